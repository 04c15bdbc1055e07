"""Checks of GELU."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch08_custom_functions.checks.functions_of_x import (
    check_calls,
    check_every_kind,
    check_far_out,
    check_gradchecked,
    check_in_a_graph,
    check_in_float32,
    check_keeps,
    check_notices_changes,
    check_of_views,
    check_once,
    check_twice,
    check_two_at_once,
)


@exercise("GELU")
def test_once(learner, reference, rng):
    """Value and gradient, and at 0."""
    check_once(learner, reference, rng, "GELU")


@exercise("GELU")
def test_twice(learner, reference, rng):
    """The gradient differentiated again, by x and by g."""
    check_twice(learner, reference, rng, "GELU")


@exercise("GELU")
def test_in_a_graph(learner, reference, rng):
    """x = a · b in the middle of a graph, gradients and second derivatives of a and b."""
    check_in_a_graph(learner, reference, rng, "GELU")


@exercise("GELU", promise="instrumented")
def test_calls(learner, reference, rng):
    """The technique: apply gives what forward returns, and a backward pass what backward returns, right or wrong."""
    check_calls(learner, reference, rng, "GELU")


@exercise("GELU", promise="instrumented")
def test_keeps(learner, reference, rng):
    """What is kept between the passes, in bytes: x, once, by save_for_backward."""
    check_keeps(learner, reference, rng, "GELU")


@exercise("GELU")
def test_far_out(learner, reference, rng):
    """Up to ±1000, where the curve is straight: finite, and right."""
    check_far_out(learner, reference, rng, "GELU")


@exercise("GELU", promise="instrumented")
def test_notices_changes(learner, reference, rng):
    """What save_for_backward is for: x is changed in place before the backward pass."""
    check_notices_changes(learner, reference, rng, "GELU")


@exercise("GELU")
def test_two_at_once(learner, reference, rng):
    """Two forward passes before the first backward pass: each call has a ctx of its own."""
    check_two_at_once(learner, reference, rng, "GELU")


@exercise("GELU")
def test_in_float32(learner, reference, rng):
    """float32 stays float32, in the second derivatives, too."""
    check_in_float32(learner, reference, rng, "GELU")


@exercise("GELU")
def test_of_views(learner, reference, rng):
    """Transposed and expanded; and no gradient where none is asked for."""
    check_of_views(learner, reference, rng, "GELU")


@exercise("GELU")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; both derivatives."""
    check_every_kind(learner, reference, kinds, "GELU")


@exercise("GELU", promise="instrumented")
def test_gradchecked(learner, reference, rng):
    """What PyTorch's gradcheck and gradgradcheck say, and the numbers it is about."""
    check_gradchecked(learner, reference, rng, "GELU")
