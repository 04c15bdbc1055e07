"""Checks of reversible_block."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import (
    F32,
    F64,
    agree,
    exercise,
    expect,
    expect_close,
    fine,
    random,
)
from autograder.lessons.ch11_checkpointing.checks.layers import layer, stack
from autograder.lessons.ch11_checkpointing.checks.second_runs import ROUNDING, SLACK, followed, three_factors, told


def block(rng, n: int, width: int, dtype=F64) -> tuple[Any, ...]:
    """x1, x2, the layers f and g, dy1, dy2."""
    x1, x2, dy1, dy2 = (random(rng, (n, width), dtype) for _ in range(4))
    return x1, x2, layer(rng, width, width, dtype), layer(rng, width, width, dtype), dy1, dy2


SIZES = {"one entry": (1, 1), "one row": (1, 3), "a matrix": (4, 3)}


@exercise("reversible_block")
def test_block(learner, reference, rng):
    """Values, and the gradients of x1, x2 and all parameters."""
    for case, (n, width) in SIZES.items():
        arguments = *block(rng, n, width), (True, True)
        agree("reversed_block", learner, reference, *arguments, case=case, **ROUNDING)


@exercise("reversible_block")
def test_one_input_without_gradient(learner, reference, rng):
    """x1 or x2 requires no gradient, and gets none."""
    for wants, without in [((True, False), "x2"), ((False, True), "x1")]:
        arguments = *block(rng, 2, 3), wants
        case = f"{without} requires no gradient"
        agree("reversed_block", learner, reference, *arguments, case=case, **ROUNDING)


@exercise("reversible_block")
def test_one_output_unused(learner, reference, rng):
    """The loss depends on y1 or on y2 alone."""
    for used in (0, 1):
        x1, x2, f, g, *dys = block(rng, 2, 3)
        dys[1 - used] = None
        case = f"y{2 - used} is not used"
        agree("reversed_block", learner, reference, x1, x2, f, g, *dys, (True, True), case=case, **ROUNDING)


@exercise("reversible_block")
def test_blocks_in_a_graph(learner, reference, rng):
    """Blocks one after the other in the middle of a graph; gradients of two passes add up."""
    for count in (1, 3):
        a, c, _, _, dy1, dy2 = block(rng, 2, 3)
        layers = stack(rng, [3] * (2 * count + 1))
        case = f"{count} block{'s' * (count > 1)}, x1 = a · c, x2 = sin(a), results squared; two backward passes"
        agree("reversed_stack", learner, reference, a, c, layers, dy1, dy2, case=case, **ROUNDING)


@exercise("reversible_block", promise="instrumented")
def test_computed_back(learner, reference, rng):
    """The technique: the gradients are those of second runs of f and g, at what is computed back, one a right one."""
    for case, (n, width) in SIZES.items():
        x1, x2, f, _, dy1, dy2 = block(rng, n, width)
        arguments = x1, x2, f["W"], dy1, dy2, three_factors(rng, (n, width))
        case = f"f and g change between the passes, {case}"
        followed("computed_back", learner, reference, *arguments, case=case, every=False)


@exercise("reversible_block", promise="instrumented")
def test_only_y1_and_y2_are_kept(learner, reference, rng):
    """Between the passes: y1 and y2, no inputs, nothing of what f and g compute."""
    for case, size, dtype in [("80 x 80, float64", 80, F64), ("112 x 112, float32", 112, F32)]:
        x, W = random(rng, (size, size), dtype), random(rng, (size, size), dtype) / dtype(np.sqrt(size))
        expected, got = (who.scenario.kept_of_block(x, W) for who in (reference, learner))
        if fine(got, expected, case=case):
            expect_close(got["y1"], expected["y1"], names=("y1",), case=case, rtol=1e-4, atol=1e-5)
            message = (
                f"{told(got['made'], got['x'])} are kept between the passes beside y1 and y2 (each has {got['x']:,}). "
                "x1, x2 and what f and g compute can be computed back: keep none of it."
            )
            expect(got["made"] <= SLACK, message, case=case)


@exercise("reversible_block", promise="instrumented")
def test_f_and_g_run_twice(learner, reference, rng):
    """f and g run once in each pass."""
    for case, (n, width) in SIZES.items():
        x1, x2, f, _, dy1, dy2 = block(rng, n, width)
        case = f"f and g change between the passes, {case}"
        arguments = x1, x2, f["W"], dy1, dy2, three_factors(rng, (n, width))
        expected, got = (who.scenario.calls_of_block(*arguments) for who in (reference, learner))
        if not fine(got, expected, case=case):
            continue
        for when in ("forward", "backward"):
            for name, times in got[when].items():
                message = f"{name} ran {times} times in the {when} pass; once is enough, and needed."
                expect(times == expected[when][name], message, case=case, instead=str(times))
        if (got["forward"], got["backward"]) == (expected["forward"], expected["backward"]):
            expect_close(got["dx1"], expected["dx1"], names=("dx1",), case=case, **ROUNDING)


@exercise("reversible_block", promise="instrumented")
def test_results_changed_in_between(learner, reference, rng):
    """Autograd must notice when y1 or y2 is changed in place before the backward pass."""
    for case, (n, width) in SIZES.items():
        x1, x2, f, _, dy1, dy2 = block(rng, n, width)
        case = f"a result is changed in place, {case}"
        agree("block_changed_in_between", learner, reference, x1, x2, f["W"], dy1, dy2, case=case)


@exercise("reversible_block")
def test_block_in_float32(learner, reference, rng):
    """Results and gradients have the dtype of the inputs."""
    for case, (n, width) in SIZES.items():
        arguments = *block(rng, n, width, F32), (True, True)
        tolerance = {"rtol": 1e-4, "atol": 1e-5}
        agree("reversed_block", learner, reference, *arguments, case=f"float32, {case}", **tolerance)


@exercise("reversible_block")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; one tensor or module twice, frozen ones, old grads, two backward passes."""
    for kind in kinds:
        arguments = *kind.drawn.values(), kind.states
        tolerance = kind.tolerance((), list(kind.drawn.values()))
        agree("block_in_states", learner, reference, *arguments, case=kind.label, **tolerance)
