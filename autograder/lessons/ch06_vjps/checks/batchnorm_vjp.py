"""Checks of batchnorm_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries
from autograder.lessons.ch06_vjps.checks.normalisation import NORM_DTYPES, agree_norm, norm_arguments


@exercise("batchnorm_vjp")
def test_batchnorm_of_columns(learner, reference, rng):
    """Mean and variance depend on every example of the batch."""
    for case, shape in {"one feature": (3, 1), "a square x": (4, 4), "a batch": (5, 3)}.items():
        agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, norm_arguments(rng, shape, 2), case, eps=0.0)


@exercise("batchnorm_vjp")
def test_batchnorm_eps(learner, reference, rng):
    """eps stands under the root, beside the variance, in the backward pass too."""
    for eps in (0.5, 3.0):
        arguments = norm_arguments(rng, (4, 2), 2)
        agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, arguments, "a large eps", eps=eps)
    g, x, gamma, beta = norm_arguments(rng, (4, 3), 2)
    arguments = (g, 1 + 1e-3 * x, gamma, beta)
    case = "columns of a small variance, default eps"
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, arguments, case)


@exercise("batchnorm_vjp")
def test_batchnorm_degenerate_batches(learner, reference, rng):
    """A batch of one, and a feature that is the same in every example, have variance 0."""
    constant = np.repeat(random(rng, (1, 3)), 4, axis=0)
    g, x, gamma, beta = norm_arguments(rng, (4, 3), 2)
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, norm_arguments(rng, (1, 3), 2), "a batch of one")
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, (g, constant, gamma, beta), "constant columns")
    one_constant = np.where([True, False, False], constant, x)
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, (g, one_constant, gamma, beta), "one constant column")


@exercise("batchnorm_vjp")
def test_batchnorm_dtypes(learner, reference, rng):
    """dx has the dtype of x, dgamma that of gamma, dbeta that of beta."""
    for case, dtypes in NORM_DTYPES.items():
        arguments = norm_arguments(rng, (3, 4), 2, dtypes)
        agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, arguments, case, eps=0.0, **SINGLE)


@exercise("batchnorm_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "batchnorm_vjp", names=("dx", "dgamma", "dbeta"))


@exercise("batchnorm_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "batchnorm_vjp")
