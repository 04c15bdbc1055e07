"""Checks of mul_vjp."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch06_vjps.checks.broadcasting import (
    agree_elementwise,
    check_both_broadcast,
    check_leading_axes,
    check_operand_dtypes,
    check_stretched_axes,
)
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


@exercise("mul_vjp")
def test_mul_one_shape(learner, reference, rng):
    """da = g b and db = g a."""
    shapes = {"0-d arrays": (), "one entry each": (1,), "vectors": (4,), "matrices": (2, 3), "three axes": (2, 1, 3)}
    agree_elementwise(learner, reference, rng, "mul_vjp", {case: (s, s) for case, s in shapes.items()})


@exercise("mul_vjp")
def test_stretched_axes(learner, reference, rng):
    """The gradient is summed over an axis of size 1 that was stretched, and the axis stays."""
    check_stretched_axes(learner, reference, rng, "mul_vjp")


@exercise("mul_vjp")
def test_leading_axes(learner, reference, rng):
    """Axes that an operand lacks are summed away, scalars included."""
    check_leading_axes(learner, reference, rng, "mul_vjp")


@exercise("mul_vjp")
def test_both_broadcast(learner, reference, rng):
    """Both operands are stretched, each along its own axes; empty arrays."""
    check_both_broadcast(learner, reference, rng, "mul_vjp")


@exercise("mul_vjp")
def test_operand_dtypes(learner, reference, rng):
    """Each gradient has the dtype of its operand."""
    check_operand_dtypes(learner, reference, rng, "mul_vjp")


@exercise("mul_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "mul_vjp", names=("da", "db"))


@exercise("mul_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "mul_vjp")
