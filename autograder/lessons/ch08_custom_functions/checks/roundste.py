"""Checks of RoundSTE."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, agree, exercise
from autograder.lessons.ch08_custom_functions.checks.functions_of_x import (
    SHAPES,
    away_from_halves,
    check_calls,
    check_every_kind,
    check_gradchecked,
    check_keeps,
    check_layouts,
    check_no_gradient,
)
from autograder.lessons.ch08_custom_functions.checks.upstream_gradients import upstream


@exercise("RoundSTE", promise="instrumented")
def test_calls(learner, reference, rng):
    """The technique: apply gives what forward returns, and a backward pass what backward returns, right or wrong."""
    check_calls(learner, reference, rng, "RoundSTE")


@exercise("RoundSTE", promise="instrumented")
def test_keeps(learner, reference, rng):
    """What is kept between the passes, in bytes: x, once, by save_for_backward; RoundSTE keeps nothing."""
    check_keeps(learner, reference, rng, "RoundSTE")


@exercise("RoundSTE", promise="instrumented")
def test_gradchecked(learner, reference, rng):
    """What PyTorch's gradcheck and gradgradcheck say (RoundSTE they must reject), and the numbers it is about."""
    check_gradchecked(learner, reference, rng, "RoundSTE")


@exercise("RoundSTE")
def test_rounded(learner, reference, rng):
    """round(x) forward, g backward."""
    for case, shape in SHAPES.items():
        arguments = away_from_halves(rng, shape), upstream(rng, shape)
        agree("once", learner, reference, "RoundSTE", *arguments, case=case)


@exercise("RoundSTE")
def test_rounded_halves(learner, reference, rng):
    """A half goes to the even neighbour, and the gradient there is g, too."""
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5])
    for case, x in {
        "halves": halves,
        "halves further out": halves + 2 * rng.integers(2, 50),
        "whole numbers": np.arange(-3.0, 4.0) * rng.integers(1, 50),
        "large numbers": rng.uniform(1e3, 1e6, size=6),
        "numbers beyond int32 and int64, and infinities": np.array(
            [*(rng.uniform(3, 9, size=3) * [1e9, -1e12, 1e30]), -0.0, np.inf, -np.inf]
        ),
    }.items():
        agree("once", learner, reference, "RoundSTE", x, upstream(rng, x.shape), case=case)


@exercise("RoundSTE")
def test_rounded_in_a_graph(learner, reference, rng):
    """x = a · b, and the rounded values squared: a second derivative comes from the square alone."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        b = rng.uniform(0.5, 2, size=shape)
        a = np.asarray((np.abs(away_from_halves(rng, shape)) + 1) / b)
        arguments = a, b, upstream(rng, shape), upstream(rng, shape)
        case = f"x = a · b, the result squared, {case}"
        agree("in_a_graph", learner, reference, "RoundSTE", *arguments, case=case)


@exercise("RoundSTE")
def test_rounded_in_float32(learner, reference, rng):
    """float32, views, and no gradient where none is asked for."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = away_from_halves(rng, shape, F32), upstream(rng, shape, F32)
        agree("once", learner, reference, "RoundSTE", *arguments, case=f"float32, {case}")
    check_layouts("RoundSTE", learner, reference, rng)
    check_no_gradient("RoundSTE", learner, reference, rng)


@exercise("RoundSTE")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; both derivatives."""
    check_every_kind(learner, reference, kinds, "RoundSTE")
