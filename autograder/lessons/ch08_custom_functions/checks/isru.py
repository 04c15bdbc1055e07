"""Checks of ISRU."""

from __future__ import annotations

from autograder.judging import F32, F64, agree, exercise
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
    far_out,
    spread,
)
from autograder.lessons.ch08_custom_functions.checks.upstream_gradients import SINGLE, upstream

RELATIVE = {"rtol": 0.01, "atol": 0.0}
"""At ±1000 the slope is 1e-9, so an `atol` would hide any error. By 1 − y² it is 7 to 11 % wrong there in float32."""


@exercise("ISRU")
def test_once(learner, reference, rng):
    """Value and gradient, and at 0."""
    check_once(learner, reference, rng, "ISRU")


@exercise("ISRU")
def test_twice(learner, reference, rng):
    """The gradient differentiated again, by x and by g."""
    check_twice(learner, reference, rng, "ISRU")


@exercise("ISRU")
def test_in_a_graph(learner, reference, rng):
    """x = a · b in the middle of a graph, gradients and second derivatives of a and b."""
    check_in_a_graph(learner, reference, rng, "ISRU")


@exercise("ISRU", promise="instrumented")
def test_calls(learner, reference, rng):
    """The technique: apply gives what forward returns, and a backward pass what backward returns, right or wrong."""
    check_calls(learner, reference, rng, "ISRU")


@exercise("ISRU", promise="instrumented")
def test_keeps(learner, reference, rng):
    """What is kept between the passes, in bytes: x, once, by save_for_backward."""
    check_keeps(learner, reference, rng, "ISRU")


@exercise("ISRU", promise="instrumented")
def test_keeps_x_and_g(learner, reference, rng):
    """What waits for the double backward, in bytes: x and g, and no tensor made in either pass."""
    for case, shape, dtype, tolerance in [("float64", (3, 4), F64, {}), ("float32", (5, 4), F32, SINGLE)]:
        x, g, h = spread(rng, shape, dtype), upstream(rng, shape, dtype), upstream(rng, shape, dtype)
        case = f"after a backward pass with create_graph=True, {case}"
        agree("kept_for_a_second", learner, reference, "ISRU", x, g, h, case=case, **tolerance)


@exercise("ISRU")
def test_far_out(learner, reference, rng):
    """Up to ±1000, where the curve is straight: finite, and right; the small derivatives, too, in float32."""
    check_far_out(learner, reference, rng, "ISRU")
    x, g, h = far_out(rng).astype(F32), spread(rng, 8, F32), spread(rng, 8, F32)
    agree("twice", learner, reference, "ISRU", x, g, h, case="float32, entries up to ±1000, within 1 %", **RELATIVE)


@exercise("ISRU", promise="instrumented")
def test_notices_changes(learner, reference, rng):
    """What save_for_backward is for: x is changed in place before the backward pass."""
    check_notices_changes(learner, reference, rng, "ISRU")


@exercise("ISRU")
def test_two_at_once(learner, reference, rng):
    """Two forward passes before the first backward pass: each call has a ctx of its own."""
    check_two_at_once(learner, reference, rng, "ISRU")


@exercise("ISRU")
def test_two_double_backwards(learner, reference, rng):
    """Two gradients, then the double backward of each: each call has a ctx of its own, and nothing is written into."""
    for case, shape, other in [("the same shape twice", (3,), (3,)), ("two shapes", (2,), (2, 3))]:
        xs, gs = ([draw(rng, of) for of in (shape, other)] for draw in (spread, upstream))
        case = f"two backward passes, then two double backwards, {case}"
        agree("two_double_backwards", learner, reference, "ISRU", *xs, *gs, case=case)


@exercise("ISRU")
def test_in_float32(learner, reference, rng):
    """float32 stays float32, in the second derivatives, too."""
    check_in_float32(learner, reference, rng, "ISRU")


@exercise("ISRU")
def test_of_views(learner, reference, rng):
    """Transposed and expanded; and no gradient where none is asked for."""
    check_of_views(learner, reference, rng, "ISRU")


@exercise("ISRU")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; both derivatives."""
    check_every_kind(learner, reference, kinds, "ISRU")


@exercise("ISRU", promise="instrumented")
def test_gradchecked(learner, reference, rng):
    """What PyTorch's gradcheck and gradgradcheck say, and the numbers it is about."""
    check_gradchecked(learner, reference, rng, "ISRU")
