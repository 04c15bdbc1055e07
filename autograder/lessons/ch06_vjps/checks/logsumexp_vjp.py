"""Checks of logsumexp_vjp."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch06_vjps.checks.along_an_axis import (
    check_dtypes_along_an_axis,
    check_extreme_entries,
    check_other_axes,
    check_rows,
)
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


@exercise("logsumexp_vjp")
def test_rows(learner, reference, rng):
    """dx = p (g − Σ g p) and dx = g p, along the last axis by default."""
    check_rows(learner, reference, rng, "logsumexp_vjp")


@exercise("logsumexp_vjp")
def test_other_axes(learner, reference, rng):
    """The sum runs along the axis that was given, wherever it is."""
    check_other_axes(learner, reference, rng, "logsumexp_vjp")


@exercise("logsumexp_vjp")
def test_extreme_entries(learner, reference, rng):
    """Right, not nan, for entries of ±1000."""
    check_extreme_entries(learner, reference, rng, "logsumexp_vjp")


@exercise("logsumexp_vjp")
def test_dtypes_along_an_axis(learner, reference, rng):
    """dx has the dtype of x."""
    check_dtypes_along_an_axis(learner, reference, rng, "logsumexp_vjp")


@exercise("logsumexp_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "logsumexp_vjp", names=("dx",))


@exercise("logsumexp_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "logsumexp_vjp")
