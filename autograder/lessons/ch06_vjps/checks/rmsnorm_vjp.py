"""Checks of rmsnorm_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries
from autograder.lessons.ch06_vjps.checks.normalisation import LEADING_AXES, NORM_DTYPES, agree_norm, norm_arguments


@exercise("rmsnorm_vjp")
def test_rmsnorm_of_rows(learner, reference, rng):
    """The mean square depends on every entry of the row; dgamma is summed over the rows."""
    for case, shape in {"one row": (1, 3), "a square x": (4, 4), "rows": (3, 5)}.items():
        agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, norm_arguments(rng, shape, 1), case, eps=0.0)


@exercise("rmsnorm_vjp")
def test_rmsnorm_leading_axes(learner, reference, rng):
    """dgamma is summed over all axes but the last, however many."""
    for case, shape in LEADING_AXES.items():
        agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, norm_arguments(rng, shape, 1), case, eps=0.0)


@exercise("rmsnorm_vjp")
def test_rmsnorm_eps(learner, reference, rng):
    """eps stands under the root, beside the mean square, in the backward pass too."""
    for eps in (0.5, 3.0):
        arguments = norm_arguments(rng, (2, 4), 1)
        agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, arguments, "a large eps", eps=eps)
    agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, norm_arguments(rng, (3, 1), 1), "one feature")
    g, x, gamma = norm_arguments(rng, (3, 4), 1)
    agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, (g, 1e-3 * x, gamma), "rows of small numbers, default eps")
    agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, (g, np.zeros((3, 4)), gamma), "rows of zeros")


@exercise("rmsnorm_vjp")
def test_rmsnorm_dtypes(learner, reference, rng):
    """dx has the dtype of x, dgamma that of gamma."""
    for case, dtypes in NORM_DTYPES.items():
        arguments = norm_arguments(rng, (3, 4), 1, dtypes)
        agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, arguments, case, eps=0.0, **SINGLE)


@exercise("rmsnorm_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "rmsnorm_vjp", names=("dx", "dgamma"))


@exercise("rmsnorm_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "rmsnorm_vjp")
