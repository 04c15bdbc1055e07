"""Checks of reflect."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect_close


def ask(learner, reference, case, v, A):
    v = v / np.linalg.norm(v)
    expect_close(learner.reflect(v, A), reference.reflect(v, A), case=case, **EXACT)


@exercise("reflect")
def test_columns(learner, reference, rng):
    """One column, and several."""
    ask(learner, reference, "one column", rng.normal(size=2), rng.normal(size=(2, 1)))
    ask(learner, reference, "a matrix with more columns than rows", rng.normal(size=2), rng.normal(size=(2, 3)))
    ask(learner, reference, "one row", np.ones(1), rng.normal(size=(1, 2)))


@exercise("reflect")
def test_square(learner, reference, rng):
    """Of a square matrix the columns are reflected, not the rows."""
    ask(learner, reference, "a square matrix", rng.normal(size=3), rng.normal(size=(3, 3)))
