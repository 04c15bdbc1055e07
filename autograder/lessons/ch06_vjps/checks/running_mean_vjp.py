"""Checks of running_mean_vjp."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.along_an_axis import (
    agree_along,
    check_dtypes_along_an_axis,
    check_other_axes,
    check_rows,
)
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


@exercise("running_mean_vjp")
def test_one_row(learner, reference, rng):
    """Every mean from an entry on counts, with its own divisor."""
    for case, size in {"two entries": 2, "three entries": 3, "five entries": 5, "300 entries": 300}.items():
        agree_along(learner, reference, rng, "running_mean_vjp", random(rng, (size,)), case)
    check_rows(learner, reference, rng, "running_mean_vjp")


@exercise("running_mean_vjp")
def test_other_axes(learner, reference, rng):
    """The means run along the axis that was given, wherever it is."""
    check_other_axes(learner, reference, rng, "running_mean_vjp")


@exercise("running_mean_vjp")
def test_dtypes_along_an_axis(learner, reference, rng):
    """dx has the dtype of x."""
    check_dtypes_along_an_axis(learner, reference, rng, "running_mean_vjp")


@exercise("running_mean_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "running_mean_vjp", names=("dx",))


@exercise("running_mean_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "running_mean_vjp")
