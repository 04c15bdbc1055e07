"""Checks of deflate."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close
from lessons.ch01_power_iteration.checks.matrices import symmetric


def ask(learner, reference, case, A, value, vector):
    expect_close(learner.deflate(A, value, vector), reference.deflate(A, value, vector), case=case, **EXACT)


@exercise("deflate")
def test_unit_vector(learner, reference, rng):
    """An eigenvector of length 1."""
    value = 3.0 + rng.uniform()
    A, vectors = symmetric(rng, [value, 1.0])
    ask(learner, reference, "two eigenvalues", A, value, vectors[:, 0])


@exercise("deflate")
def test_any_length(learner, reference, rng):
    """The eigenvector's length does not count."""
    value = -3.0 - rng.uniform()
    A, vectors = symmetric(rng, [value, 1.0, 0.5])
    ask(learner, reference, "an eigenvector of length 2", A, value, 2 * vectors[:, 0])
