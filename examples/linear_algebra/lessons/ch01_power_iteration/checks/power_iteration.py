"""Checks of power_iteration."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise, expect_close
from lessons.ch01_power_iteration.checks.matrices import symmetric

CLOSE = {"rtol": 1e-8, "atol": 1e-10}
"""Some hundred products round otherwise than the reference's."""


def ask(learner, reference, case, A, x, steps):
    mine, theirs = learner.power_iteration(A, x, steps), reference.power_iteration(A, x, steps)
    expect_close(mine, theirs, names=("value", "vector"), case=case, **CLOSE)


@exercise("power_iteration")
def test_few_steps(learner, reference, rng):
    """One step and three, of a matrix that is not symmetric."""
    A, x = rng.normal(size=(2, 2)), rng.normal(size=2)
    for steps in (1, 3):
        ask(learner, reference, f"{steps} steps" if steps > 1 else "one step", A, x, steps)


@exercise("power_iteration")
def test_no_step(learner, reference, rng):
    """Without a step it is x itself, of length 1."""
    ask(learner, reference, "no step", rng.normal(size=(2, 2)), 3 * rng.normal(size=2), 0)


@exercise("power_iteration")
def test_many_steps(learner, reference, rng):
    """A thousand steps neither overflow nor vanish, and find the largest eigenvalue."""
    for case, largest in (("a large eigenvalue", 40.0), ("all eigenvalues small", 0.01)):
        A, _ = symmetric(rng, [largest, 0.3 * largest, -0.2 * largest * rng.uniform(0.5, 1)])
        ask(learner, reference, f"1000 steps, {case}", A, np.abs(rng.normal(size=3)), 1000)


@exercise("power_iteration")
def test_negative_eigenvalue(learner, reference, rng):
    """The largest in size may be negative: its sign counts."""
    A, _ = symmetric(rng, [-5.0 * rng.uniform(1, 2), 1.0, 2.0])
    ask(learner, reference, "a negative eigenvalue", A, rng.normal(size=3), 60)
