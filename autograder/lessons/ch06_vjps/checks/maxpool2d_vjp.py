"""Checks of maxpool2d_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import DTYPES, SINGLE, agree_on, distinct
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def agree_pool(learner, reference, rng, x, size, case, dtype=F64, **tolerance):
    n, c, h, w = x.shape
    g = random(rng, (n, c, h // size, w // size), dtype)
    agree_on(learner.maxpool2d_vjp, reference.maxpool2d_vjp, g, x, size, names=("dx",), case=case, **tolerance)


@exercise("maxpool2d_vjp")
def test_pooling_windows(learner, reference, rng):
    """The largest entry of each window gets its gradient, the others 0."""
    for case, shape, size in [
        ("one window", (1, 1, 2, 2), 2),
        ("four windows", (1, 1, 4, 4), 2),
        ("a row of windows", (1, 1, 2, 6), 2),
        ("a column of 3 × 3 windows", (1, 1, 6, 3), 3),
        ("a batch with channels", (2, 3, 4, 6), 2),
        ("windows of one entry", (2, 1, 2, 3), 1),
    ]:
        agree_pool(learner, reference, rng, distinct(rng, shape), size, case)
    agree_pool(learner, reference, rng, -1 - np.abs(distinct(rng, (1, 2, 4, 4))), 2, "all entries negative")
    rising = np.sort(distinct(rng, (1, 1, 9, 18)), axis=None).reshape(1, 1, 9, 18)
    agree_pool(learner, reference, rng, rising, 9, "9 × 9 windows, the last entry the largest")


@exercise("maxpool2d_vjp")
def test_pooling_drops_what_fills_no_window(learner, reference, rng):
    """Rows and columns at the end that do not fill a window get no gradient, however large they are."""
    for case, shape, size in [
        ("a column left over", (1, 1, 2, 3), 2),
        ("a row left over", (1, 1, 3, 2), 2),
        ("rows and columns left over", (2, 2, 5, 7), 2),
        ("two rows and a column left over", (1, 2, 5, 4), 3),
    ]:
        agree_pool(learner, reference, rng, distinct(rng, shape), size, case)
    x = distinct(rng, (1, 1, 5, 5))
    x[..., 4, :] += 100
    x[..., :, 4] += 100
    agree_pool(learner, reference, rng, x, 2, "the largest entries left over")


@exercise("maxpool2d_vjp")
def test_pooling_ties(learner, reference, rng):
    """In a tie the first entry in row order gets all of the gradient."""
    top, low = rng.uniform(2.0, 3.0), -rng.uniform(1.0, 2.0)
    windows = {
        "a tie along the first row": [[top, top], [low, low]],
        "a tie along the first column": [[top, low], [top, low]],
        "a tie on the other diagonal": [[low, top], [top, low]],
        "a tie along the last row": [[low, low], [top, top]],
        "a tie of all entries": [[low, low], [low, low]],
        "a window of zeros": [[0.0, 0.0], [0.0, 0.0]],
    }
    for case, window in windows.items():
        agree_pool(learner, reference, rng, np.array([[window]]), 2, case)
    agree_pool(
        learner, reference, rng, np.array([[[[low, low, top], [low, top, low], [top, low, low]]]]), 3, "3 × 3 ties"
    )
    zeros = np.maximum(rng.integers(-3, 3, size=(2, 2, 4, 5)), 0).astype(F64)
    agree_pool(learner, reference, rng, zeros, 2, "many zeros, as after a relu")


@exercise("maxpool2d_vjp")
def test_pooling_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        agree_pool(learner, reference, rng, distinct(rng, (2, 2, 4, 4), x_dtype), 2, case, g_dtype, **SINGLE)


@exercise("maxpool2d_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "maxpool2d_vjp", names=("dx",), by_entry=True)


@exercise("maxpool2d_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "maxpool2d_vjp")
