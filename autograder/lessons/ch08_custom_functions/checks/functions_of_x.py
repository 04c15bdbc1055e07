"""Checks that Square, GELU, GELUTanh, ISRU and, in part, RoundSTE share.

A `Function` and its graph stay in the submission's process. Scenarios apply it there and return numbers, also those of
the double backward, which are compared here. PyTorch's own gradcheck is run there too, but a submission could have
replaced it.
"""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, agree
from autograder.lessons.ch08_custom_functions.checks.upstream_gradients import SINGLE, not_one, upstream

SHAPES = {
    "one entry": (1,),
    "a vector": (4,),
    "a matrix": (2, 3),
}
"""The shapes of plain numbers; all others come with `check_every_kind`."""


def spread(rng, shape, dtype=F64):
    """Numbers of both signs with absolute values from 0.3 to 2.3, at which no derivative is 0 by accident."""
    return np.asarray(rng.uniform(0.3, 2.3, size=shape) * rng.choice([-1.0, 1.0], size=shape), dtype=dtype)


def check_layouts(name: str, learner, reference, rng):
    """x and g that are views: transposed, expanded."""
    for case, shape in {"2 x 3": (2, 3), "3 x 2": (3, 2)}.items():
        arguments = spread(rng, shape), upstream(rng, shape)
        agree("other_layouts", learner, reference, name, *arguments, case=f"views, {case}")


def check_no_gradient(name: str, learner, reference, rng):
    """An x that requires no gradient gives a result that requires none."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        agree("constant", learner, reference, name, spread(rng, shape), case=f"{case}, requires_grad=False")


def away_from_halves(rng, shape, dtype=F64):
    """Numbers at least 0.1 away from every integer and half-integer, on which floor, trunc and round differ."""
    whole = rng.integers(-3, 3, size=shape)
    return np.asarray(whole + rng.choice([0.0, 0.5], size=shape) + rng.uniform(0.1, 0.4, size=shape), dtype=dtype)


def far_out(rng):
    """Inputs at which exp, cosh and powers overflow or vanish, including ±1000."""
    sizes = np.array([1000.0, 1000.0, *rng.uniform(6, 12, 2), *rng.uniform(20, 60, 2), *rng.uniform(100, 900, 2)])
    return sizes * np.tile([1.0, -1.0], 4)


def check_once(learner, reference, rng, name):
    """Value and gradient, and at 0."""
    for case, shape in SHAPES.items():
        agree("once", learner, reference, name, spread(rng, shape), upstream(rng, shape), case=case)
    zeros = np.array([0.0, -0.0, float(rng.uniform(0.3, 2.3))])
    agree("once", learner, reference, name, zeros, upstream(rng, 3), case="0, -0 and another number")


def check_twice(learner, reference, rng, name):
    """The gradient differentiated again, by x and by g."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = spread(rng, shape), upstream(rng, shape), upstream(rng, shape)
        agree("twice", learner, reference, name, *arguments, case=f"double backward, {case}")
    arguments = spread(rng, (2, 3)), upstream(rng, (2, 3)), upstream(rng, (2, 3)), True
    agree("twice", learner, reference, name, *arguments, case="double backward, views that are transposed in memory")
    arguments = np.array([0.0, float(rng.uniform(0.3, 2.3))]), upstream(rng, 2), upstream(rng, 2)
    agree("twice", learner, reference, name, *arguments, case="double backward, 0 and another number")


def check_in_a_graph(learner, reference, rng, name):
    """x = a · b in the middle of a graph, gradients and second derivatives of a and b."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = spread(rng, shape), spread(rng, shape), upstream(rng, shape), upstream(rng, shape)
        case = f"x = a · b, the result squared, {case}"
        agree("in_a_graph", learner, reference, name, *arguments, case=case)


def check_calls(learner, reference, rng, name):
    """The technique: apply gives what forward returns, and a backward pass what backward returns, right or wrong."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = (spread(rng, shape),), upstream(rng, shape), not_one(rng)
        agree("calls", learner, reference, name, *arguments, case=case)


def check_keeps(learner, reference, rng, name):
    """What is kept between the passes, in bytes: x, once, by save_for_backward; RoundSTE keeps nothing."""
    for case, shape, dtype, tolerance in [("float64", (3, 4), F64, {}), ("float32", (5, 4), F32, SINGLE)]:
        case = f"between the passes, {case}"
        agree("kept", learner, reference, name, spread(rng, shape, dtype), case=case, **tolerance)


def check_far_out(learner, reference, rng, name):
    """Up to ±1000, where the curve is straight: finite, and right."""
    x, g, h = far_out(rng), upstream(rng, 8), upstream(rng, 8)
    agree("once", learner, reference, name, x, g, case="entries up to ±1000")
    agree("twice", learner, reference, name, x, g, h, case="double backward, entries up to ±1000")
    x, g, h = (array.astype(F32) for array in (x, g, h))
    agree("once", learner, reference, name, x, g, case="float32, entries up to ±1000", **SINGLE)
    agree("twice", learner, reference, name, x, g, h, case="float32, double backward, entries up to ±1000", **SINGLE)


def check_notices_changes(learner, reference, rng, name):
    """What save_for_backward is for: x is changed in place before the backward pass."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        agree("changed_in_between", learner, reference, name, spread(rng, shape), upstream(rng, shape), case=case)


def check_two_at_once(learner, reference, rng, name):
    """Two forward passes before the first backward pass: each call has a ctx of its own."""
    for case, shape, other in [("the same shape twice", (3,), (3,)), ("two shapes", (2,), (2, 3))]:
        xs, gs = ([draw(rng, of) for of in (shape, other)] for draw in (spread, upstream))
        case = f"two forward passes, then two backward passes, {case}"
        agree("two_at_once", learner, reference, name, *xs, *gs, case=case)


def check_in_float32(learner, reference, rng, name):
    """float32 stays float32, in the second derivatives, too."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        x, g, h = spread(rng, shape, F32), upstream(rng, shape, F32), upstream(rng, shape, F32)
        agree("once", learner, reference, name, x, g, case=f"float32, {case}", **SINGLE)
        agree("twice", learner, reference, name, x, g, h, case=f"float32, double backward, {case}", **SINGLE)


def check_of_views(learner, reference, rng, name):
    """Transposed and expanded; and no gradient where none is asked for."""
    check_layouts(name, learner, reference, rng)
    check_no_gradient(name, learner, reference, rng)


def check_every_kind(learner, reference, kinds, name):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; both derivatives."""
    for kind in kinds:
        asked, (x, g, h) = learner.in_layout(kind.layout_of("", "x", "g", "h")), kind.drawn.values()
        tolerance = kind.tolerance((), (x * x, g, h))
        agree("twice", asked, reference, name, x, g, h, case=f"double backward, {kind.label}", **tolerance)


def check_gradchecked(learner, reference, rng, name):
    """What PyTorch's gradcheck and gradgradcheck say (RoundSTE they must reject), and the numbers it is about."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 2)}.items():
        x, g, h = away_from_halves(rng, shape), upstream(rng, shape), upstream(rng, shape)
        case = f"torch.autograd.gradcheck and gradgradcheck, {case}"
        agree("checked", learner, reference, name, x, g, h, case=case)
