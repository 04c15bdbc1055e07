"""Checks of jacobian_from_vjp."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch02_chain_rule.checks.jacobians import JACOBIANS, agree_on_jacobian, expect_calls


@exercise("jacobian_from_vjp")
def test_jacobian_row_by_row(learner, rng):
    """The VJP with a basis vector is a row."""
    agree_on_jacobian(learner.jacobian_from_vjp, rng, JACOBIANS, left=True)


@exercise("jacobian_from_vjp")
def test_calls_of_vjp(learner, rng):
    """n_out calls, not one more."""
    shapes = {"one output": (1, 3), "three outputs": (3, 2), "no inputs": (2, 0)}
    expect_calls(learner.jacobian_from_vjp, rng, shapes, left=True)
