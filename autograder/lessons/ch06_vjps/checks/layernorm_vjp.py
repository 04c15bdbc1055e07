"""Checks of layernorm_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries
from autograder.lessons.ch06_vjps.checks.normalisation import LEADING_AXES, NORM_DTYPES, agree_norm, norm_arguments


@exercise("layernorm_vjp")
def test_layernorm_of_rows(learner, reference, rng):
    """Mean and variance depend on every entry of the row; the parameters' gradients are summed over the rows."""
    for case, shape in {"one row": (1, 3), "a square x": (4, 4), "rows": (3, 5)}.items():
        arguments = norm_arguments(rng, shape, 2)
        agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case, eps=0.0)


@exercise("layernorm_vjp")
def test_layernorm_leading_axes(learner, reference, rng):
    """The parameters' gradients are summed over all axes but the last, however many."""
    for case, shape in LEADING_AXES.items():
        arguments = norm_arguments(rng, shape, 2)
        agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case, eps=0.0)


@exercise("layernorm_vjp")
def test_layernorm_eps(learner, reference, rng):
    """eps stands under the root, beside the variance, in the backward pass too."""
    for eps in (0.5, 3.0):
        arguments = norm_arguments(rng, (2, 4), 2)
        agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, "a large eps", eps=eps)
    g, x, gamma, beta = norm_arguments(rng, (3, 4), 2)
    arguments = (g, 1 + 1e-3 * x, gamma, beta)
    case = "rows of a small variance, default eps"
    agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case)
    agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, norm_arguments(rng, (3, 1), 2), "one feature")
    constant = np.full((2, 4), rng.normal())
    agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, (g[:2], constant, gamma, beta), "constant rows")


@exercise("layernorm_vjp")
def test_layernorm_dtypes(learner, reference, rng):
    """dx has the dtype of x, dgamma that of gamma, dbeta that of beta."""
    for case, dtypes in NORM_DTYPES.items():
        arguments = norm_arguments(rng, (3, 4), 2, dtypes)
        agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case, eps=0.0, **SINGLE)


@exercise("layernorm_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "layernorm_vjp", names=("dx", "dgamma", "dbeta"))


@exercise("layernorm_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "layernorm_vjp")
