"""Checks of sum_vjp."""

from __future__ import annotations

from autograder.judging import EXACT, F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import DTYPES, SINGLE, agree_on
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def agree_sum(
    learner, reference, rng, shape, case, dtypes=(F64, F64), rtol=EXACT["rtol"], atol=EXACT["atol"], **options
):
    x = random(rng, shape, dtypes[1])
    g = random(rng, x.sum(**options).shape, dtypes[0])
    agree_on(learner.sum_vjp, reference.sum_vjp, g, x, names=("dx",), case=case, rtol=rtol, atol=atol, **options)


@exercise("sum_vjp")
def test_sum_over_one_axis(learner, reference, rng):
    """Every entry gets the gradient of the sum that it went into."""
    for case, shape, axis in [
        ("the first axis", (2, 3), 0),
        ("the last axis", (2, 3), 1),
        ("an axis of size 1", (3, 1), 1),
        ("the last axis of a square x", (3, 3), 1),
        ("the last axis, counted from the end", (3, 3), -1),
        ("the middle axis", (2, 3, 4), 1),
        ("the middle axis, counted from the end", (3, 3, 3), -2),
        ("the first axis, counted from the end", (2, 3, 2), -3),
    ]:
        agree_sum(learner, reference, rng, shape, case, axis=axis)


@exercise("sum_vjp")
def test_sum_over_everything(learner, reference, rng):
    """axis=None, the default: one number for all entries."""
    for case, shape in [("one entry", (1,)), ("a vector", (3,)), ("a matrix", (2, 3)), ("three axes", (2, 1, 3))]:
        agree_sum(learner, reference, rng, shape, f"{case}, no axis given")
        agree_sum(learner, reference, rng, shape, f"{case}, keepdims=True", keepdims=True)
    agree_sum(learner, reference, rng, (), "a 0-d array, axis=None", axis=None)
    agree_sum(learner, reference, rng, (0, 2), "an empty array, axis=None", axis=None, keepdims=False)


@exercise("sum_vjp")
def test_sum_keepdims(learner, reference, rng):
    """With keepdims=True g has the summed axes already."""
    for case, shape, axis in [
        ("the first axis", (2, 3), 0),
        ("the last axis", (3, 3), 1),
        ("the last axis, counted from the end", (2, 4), -1),
        ("the middle axis", (2, 3, 4), 1),
        ("two axes", (2, 3, 4), (0, 2)),
        ("two axes, counted from the end", (2, 3, 4), (-1, -2)),
    ]:
        agree_sum(learner, reference, rng, shape, f"{case}, keepdims=True", axis=axis, keepdims=True)


@exercise("sum_vjp")
def test_sum_over_several_axes(learner, reference, rng):
    """A tuple of axes, in any order and counted from either end."""
    for case, shape, axis in [
        ("a tuple of one axis", (3, 3), (1,)),
        ("both axes of a matrix", (2, 3), (0, 1)),
        ("the first and the last axis", (2, 3, 4), (0, 2)),
        ("the last two axes", (3, 3, 3), (1, 2)),
        ("two axes, counted from the end", (3, 3, 3), (-1, -2)),
        ("axes not in order", (2, 3, 2, 3), (2, 0)),
        ("axes counted from both ends", (2, 3, 2, 3), (0, -1)),
        ("a tuple of no axes, which sums nothing", (2, 3), ()),
        ("an empty axis that stays", (0, 2, 3), (1, 2)),
        ("an empty axis that is summed", (2, 0, 3), (1, 2)),
    ]:
        agree_sum(learner, reference, rng, shape, case, axis=axis)


@exercise("sum_vjp")
def test_sum_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, dtypes in DTYPES.items():
        agree_sum(learner, reference, rng, (2, 3), case, dtypes, axis=0, **SINGLE)


@exercise("sum_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "sum_vjp", names=("dx",), by_entry=True)


@exercise("sum_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "sum_vjp")
