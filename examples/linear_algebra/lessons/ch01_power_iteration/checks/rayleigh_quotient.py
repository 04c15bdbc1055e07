"""Checks of rayleigh_quotient."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect_close
from lessons.ch01_power_iteration.checks.matrices import symmetric


def ask(learner, reference, case, A, x):
    expect_close(learner.rayleigh_quotient(A, x), reference.rayleigh_quotient(A, x), case=case, **EXACT)


@exercise("rayleigh_quotient")
def test_values(learner, reference, rng):
    """Of a vector of length 1, and of any other square matrix."""
    x = rng.normal(size=2)
    ask(learner, reference, "two numbers", rng.normal(size=(2, 2)), x / np.linalg.norm(x))
    ask(learner, reference, "a matrix of one entry", rng.normal(size=(1, 1)), np.ones(1))


@exercise("rayleigh_quotient")
def test_any_length(learner, reference, rng):
    """The length of x does not count."""
    A = rng.normal(size=(3, 3))
    for length in (2.0, 0.1):
        ask(learner, reference, f"x of about the length {length}", A, length * rng.normal(size=3))


@exercise("rayleigh_quotient")
def test_eigenvector(learner, reference, rng):
    """An eigenvector has its eigenvalue, of either sign."""
    A, vectors = symmetric(rng, [2.0, -3.0 + rng.uniform(), 1.0])
    ask(learner, reference, "an eigenvector of length 2, with a negative eigenvalue", A, 2 * vectors[:, 1])
