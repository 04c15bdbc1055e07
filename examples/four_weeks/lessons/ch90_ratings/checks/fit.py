"""Checks of fit."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect_close
from lessons.ch90_ratings.checks.cinema import rated, tables

WHO, WHAT = [0, 0, 1, 2, 2, 3], [0, 3, 1, 3, 4, 0]


def ask(learner, reference, rng, case, who, what, steps, lr=0.1):
    ratings = rng.integers(1, 6, size=len(who)).astype(np.float64)
    arguments = *tables(rng, 4, 5), *rated(who, what), ratings, lr, steps
    got, wanted = learner.fit(*arguments), reference.fit(*arguments)
    expect_close(got, wanted, names=("users", "films"), case=case, **EXACT)


@exercise("fit")
def test_no_step(learner, reference, rng):
    """The tables are as they were."""
    ask(learner, reference, rng, "no step", WHO, WHAT, steps=0)


@exercise("fit")
def test_one_step(learner, reference, rng):
    """Both tables move against gradients of the same point."""
    ask(learner, reference, rng, "a step for one rating", [1], [2], steps=1)
    ask(learner, reference, rng, "a step for six ratings", WHO, WHAT, steps=1, lr=0.05)


@exercise("fit")
def test_several_steps(learner, reference, rng):
    """Each step begins where the one before it ended."""
    ask(learner, reference, rng, "two steps", WHO, WHAT, steps=2)
    ask(learner, reference, rng, "ten steps", WHO, WHAT, steps=10, lr=0.03)
