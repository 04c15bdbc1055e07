"""Checks of add_vjp."""

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

BIAS = {  # what broadcasts: shapes of a and b, smallest first
    "one entry each": ((1,), (1,)),
    "operands of one shape": ((2, 3), (2, 3)),
    "a row added to one row": ((1, 3), (3,)),
    "a row added to every row": ((4, 3), (3,)),
    "a row added along two leading axes": ((2, 4, 3), (3,)),
}


@exercise("add_vjp")
def test_add_a_bias(learner, reference, rng):
    """g for the one, g summed over the rows for the other."""
    agree_elementwise(learner, reference, rng, "add_vjp", BIAS)


@exercise("add_vjp")
def test_stretched_axes(learner, reference, rng):
    """The gradient is summed over an axis of size 1 that was stretched, and the axis stays."""
    check_stretched_axes(learner, reference, rng, "add_vjp")


@exercise("add_vjp")
def test_leading_axes(learner, reference, rng):
    """Axes that an operand lacks are summed away, scalars included."""
    check_leading_axes(learner, reference, rng, "add_vjp")


@exercise("add_vjp")
def test_both_broadcast(learner, reference, rng):
    """Both operands are stretched, each along its own axes; empty arrays."""
    check_both_broadcast(learner, reference, rng, "add_vjp")


@exercise("add_vjp")
def test_operand_dtypes(learner, reference, rng):
    """Each gradient has the dtype of its operand."""
    check_operand_dtypes(learner, reference, rng, "add_vjp")


@exercise("add_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "add_vjp", names=("da", "db"))


@exercise("add_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "add_vjp")
