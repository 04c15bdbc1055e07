"""Checks of reparameterized_gradient."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch13_beyond_first_order.checks.estimates import (
    check_estimates,
    check_every_kind_of_eps,
    check_shapes_of_eps,
    check_spreads,
)


@exercise("reparameterized_gradient")
def test_estimates(learner, reference, rng):
    """One estimate for each sample, from one sample on."""
    check_estimates(learner, reference, rng, "reparameterized_gradient")


@exercise("reparameterized_gradient")
def test_spreads(learner, reference, rng):
    """Other means and standard deviations, small ones and large ones."""
    check_spreads(learner, reference, rng, "reparameterized_gradient")


@exercise("reparameterized_gradient")
def test_shapes_of_eps(learner, reference, rng):
    """Matrices of samples, one sample in three axes, many axes, none."""
    check_shapes_of_eps(learner, reference, rng, "reparameterized_gradient")


@exercise("reparameterized_gradient")
def test_every_kind_of_eps(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries."""
    check_every_kind_of_eps(learner, reference, kinds, rng, "reparameterized_gradient")
