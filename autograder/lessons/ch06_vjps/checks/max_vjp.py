"""Checks of max_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import DTYPES, SINGLE, agree_on, distinct
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def agree_max(learner, reference, rng, x, axis, case, dtype=F64, **tolerance):
    g = random(rng, x.max(axis=axis).shape, dtype)
    agree_on(learner.max_vjp, reference.max_vjp, g, x, axis, names=("dx",), case=case, **tolerance)


@exercise("max_vjp")
def test_max_without_ties(learner, reference, rng):
    """The largest entry gets all of the gradient."""
    for case, shape, axis in [
        ("a vector", (3,), 0),
        ("the first axis", (2, 3), 0),
        ("the last axis", (2, 3), 1),
        ("the last axis of a square x", (3, 3), 1),
        ("the last axis, counted from the end", (3, 3), -1),
        ("the middle axis", (2, 3, 4), 1),
        ("the middle axis, counted from the end", (3, 3, 3), -2),
        ("an axis of size 1", (3, 1), 1),
    ]:
        agree_max(learner, reference, rng, distinct(rng, shape), axis, case)
    agree_max(learner, reference, rng, -1 - np.abs(distinct(rng, (3, 4))), 1, "all entries negative")


@exercise("max_vjp")
def test_max_shares_ties(learner, reference, rng):
    """Entries that are exactly the maximum share equally; one that is only close to it gets nothing."""
    top = rng.uniform(2.0, 3.0)
    low = -rng.uniform(1.0, 2.0, size=3)
    agree_max(learner, reference, rng, np.array([top, top]), 0, "two equal entries")
    agree_max(learner, reference, rng, np.array([low[0], top, low[1], top, low[2]]), 0, "a tie of two among five")
    agree_max(learner, reference, rng, np.array([[top, top, top], [0.0, low[0], 0.0]]), 1, "ties of three and of two")
    agree_max(learner, reference, rng, np.array([[top, low[0]], [low[1], top], [top, top]]), 0, "ties in each column")
    agree_max(learner, reference, rng, np.array([[top, top], [top, low[0]]]), -1, "one row with a tie, one without")
    agree_max(learner, reference, rng, np.full((2, 4, 3), low[0]), 1, "all entries equal")
    agree_max(learner, reference, rng, np.array([[top, top * (1 + 1e-12), low[0]]] * 2), 1, "an entry close to the top")


@exercise("max_vjp")
def test_max_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        agree_max(learner, reference, rng, distinct(rng, (2, 3), x_dtype), 1, case, g_dtype, **SINGLE)


@exercise("max_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "max_vjp", names=("dx",), by_entry=True)


@exercise("max_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "max_vjp")
