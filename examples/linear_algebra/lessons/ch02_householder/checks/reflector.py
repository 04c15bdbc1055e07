"""Checks of reflector."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect_close


def ask(learner, reference, case, x):
    expect_close(learner.reflector(x), reference.reflector(x), names=("v", "alpha"), case=case, **EXACT)


@exercise("reflector")
def test_both_signs(learner, reference, rng):
    """x[0] may be positive or negative."""
    x = rng.uniform(0.5, 2, size=2)
    ask(learner, reference, "two numbers, x[0] > 0", x)
    ask(learner, reference, "two numbers, x[0] < 0", x * [-1, 1])
    ask(learner, reference, "five numbers", rng.normal(size=5))


@exercise("reflector")
def test_first_entry_zero(learner, reference, rng):
    """Where x[0] is 0, alpha is negative."""
    ask(learner, reference, "x[0] is 0", np.array([0.0, *rng.normal(size=2)]))
    ask(learner, reference, "x[0] is -0.0", np.array([-0.0, *rng.normal(size=2)]))


@exercise("reflector")
def test_nothing_cancels(learner, reference, rng):
    """A multiple of e1, or nearly, has its reflector to all digits."""
    a = rng.uniform(1, 2)
    ask(learner, reference, "one number", np.array([a]))
    ask(learner, reference, "a multiple of e1", np.array([a, 0.0, 0.0]))
    ask(learner, reference, "nearly a multiple of e1", np.array([a, 1e-9 * rng.uniform(1, 2), 0.0]))
    ask(learner, reference, "nearly a multiple of −e1", np.array([-a, 1e-9 * rng.uniform(1, 2)]))
