"""Checks of jacobian_from_jvp."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch02_chain_rule.checks.jacobians import JACOBIANS, agree_on_jacobian, expect_calls


@exercise("jacobian_from_jvp")
def test_jacobian_column_by_column(learner, rng):
    """The JVP with a basis vector is a column."""
    agree_on_jacobian(learner.jacobian_from_jvp, rng, JACOBIANS, left=False)


@exercise("jacobian_from_jvp")
def test_calls_of_jvp(learner, rng):
    """n_in calls, not one more."""
    shapes = {"one input": (3, 1), "three inputs": (2, 3), "no outputs": (0, 2)}
    expect_calls(learner.jacobian_from_jvp, rng, shapes, left=False)
