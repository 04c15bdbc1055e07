"""Checks of qr."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect, expect_close


def ask(learner, reference, case, A):
    mine = learner.qr(A)
    expect_close(mine, reference.qr(A), names=("Q", "R"), case=case, **EXACT)
    return mine


@exercise("qr")
def test_tall(learner, reference, rng):
    """More rows than columns."""
    ask(learner, reference, "one column", rng.normal(size=(2, 1)))
    ask(learner, reference, "five rows and three columns", rng.normal(size=(5, 3)))


@exercise("qr")
def test_square(learner, reference, rng):
    """A square matrix: its last row has a reflector, too."""
    ask(learner, reference, "two rows and two columns", rng.normal(size=(2, 2)))
    ask(learner, reference, "four rows and four columns", rng.normal(size=(4, 4)))


@exercise("qr")
def test_zero_below_the_diagonal(learner, reference, rng):
    """Below the diagonal R is 0, and not nearly so."""
    _, R = ask(learner, reference, "four rows and three columns", rng.normal(size=(4, 3)))
    expect(not np.tril(R, -1).any(), "R has entries below its diagonal that are not exactly 0.", case="four rows")
