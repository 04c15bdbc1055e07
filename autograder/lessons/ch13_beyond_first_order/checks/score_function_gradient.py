"""Checks of score_function_gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import exercise
from autograder.lessons.ch13_beyond_first_order.checks.estimates import (
    agree_on_estimates,
    check_estimates,
    check_every_kind_of_eps,
    check_shapes_of_eps,
    check_spreads,
)


def stairs(rng) -> Callable[[Any], Any]:
    a, b = (float(number) for number in rng.uniform(0.5, 1.5, size=2))
    return lambda x: a * np.floor(x) + b * (x > 0)


@exercise("score_function_gradient")
def test_estimates(learner, reference, rng):
    """One estimate for each sample, from one sample on."""
    check_estimates(learner, reference, rng, "score_function_gradient")


@exercise("score_function_gradient")
def test_spreads(learner, reference, rng):
    """Other means and standard deviations, small ones and large ones."""
    check_spreads(learner, reference, rng, "score_function_gradient")


@exercise("score_function_gradient")
def test_shapes_of_eps(learner, reference, rng):
    """Matrices of samples, one sample in three axes, many axes, none."""
    check_shapes_of_eps(learner, reference, rng, "score_function_gradient")


@exercise("score_function_gradient")
def test_every_kind_of_eps(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries."""
    check_every_kind_of_eps(learner, reference, kinds, rng, "score_function_gradient")


@exercise("score_function_gradient")
def test_functions_without_a_derivative(learner, reference, rng):
    """f is a staircase: its derivative is 0 wherever it has one, and the estimates are not."""
    for shape in [(1,), (5,), (2, 3)]:
        case = f"f is a staircase, eps has shape {shape}"
        agree_on_estimates(learner, reference, rng, "score_function_gradient", shape, case, f=stairs)
