"""Checks of sigmoid_vjp."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch06_vjps.checks.activations import check_curve, check_curve_dtypes, check_extremes
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


@exercise("sigmoid_vjp")
def test_curve(learner, reference, rng):
    """g s (1 − s), where s is the sigmoid of x; g (1 − tanh²x)."""
    check_curve(learner, reference, rng, "sigmoid_vjp")


@exercise("sigmoid_vjp")
def test_extremes(learner, reference, rng):
    """Far from 0 the gradient vanishes; it is never nan, in float32 either."""
    check_extremes(learner, reference, rng, "sigmoid_vjp")


@exercise("sigmoid_vjp")
def test_curve_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    check_curve_dtypes(learner, reference, rng, "sigmoid_vjp")


@exercise("sigmoid_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "sigmoid_vjp", names=("dx",))


@exercise("sigmoid_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "sigmoid_vjp")
