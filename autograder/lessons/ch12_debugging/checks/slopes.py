"""Checks of slopes."""

from __future__ import annotations

import numpy as np

from autograder.judging import compare, exercise

RIGHT = "the gradient is right"
FAULTS = (
    "the gradient of another batch was not cleared",
    "micro-batches are not divided",
    "the gradient is clipped",
    "a branch is detached",
    "the layers were frozen",
    "a write through .data",
    "an operation has a wrong backward",
    "the softmax is taken twice",
)
CLOSE = {"rtol": 1e-7, "atol": 1e-7}
"""Two ways of rounding differ by some 1e-16 of the loss, which a step of 1e-6 divides by 1e-6."""
LARGE_STEP = {"rtol": 1e-9, "atol": 1e-10}
FLOAT32 = {"rtol": 1e-3, "atol": 1e-3}


def drawn(rng, n=6, width=4, classes=3, depth=2):
    """A network in float64, a batch, and a direction for all of its parameters."""

    def layer(fan_out):
        return {"W": rng.normal(size=(fan_out, width)) / np.sqrt(width), "b": rng.normal(size=fan_out)}

    layers, head = [layer(width) for _ in range(depth)], layer(classes)
    data = rng.normal(size=(n, width)), rng.integers(classes, size=n)
    shapes = [part.shape for one in (*layers, head) for part in (one["W"], one["b"])]
    return (layers, head), data, [rng.normal(size=shape) for shape in shapes]


def check_network(learner, reference, fault, arguments, *eps, case, **tolerance):
    expected, got = (who.scenario.slopes_of_network(fault, *arguments, *eps) for who in (reference, learner))
    compare(got, expected, case=case, **tolerance)


@exercise("slopes")
def test_a_right_gradient(learner, reference, rng):
    """Networks whose .grad is right, with the usual step: both slopes are the same to some digits."""
    for depth in (1, 3):
        case = f"a network of {depth + 1} layers, {RIGHT}, eps is left out"
        check_network(learner, reference, RIGHT, drawn(rng, depth=depth), case=case, **CLOSE)


@exercise("slopes")
def test_planted_faults(learner, reference, rng):
    """Eight faults, each of which fills .grad with something else than the gradient of the loss."""
    for fault in (FAULTS[i] for i in rng.permutation(len(FAULTS))):
        case = f"a network of 3 layers, {fault}"
        check_network(learner, reference, fault, drawn(rng), case=case, **CLOSE)


@exercise("slopes")
def test_the_step(learner, reference, rng):
    """Steps so long that the loss is no straight line between the ends: the formula counts, on both sides."""
    for eps in (0.5, 0.1, 1e-3):
        case = f"a network of 3 layers, {RIGHT}, eps = {eps:g}"
        check_network(learner, reference, RIGHT, drawn(rng), eps, case=case, **LARGE_STEP)


@exercise("slopes")
def test_the_exception_of_the_loss(learner, reference, rng):
    """loss_of raises in its first or second call: the model is what it was, and the exception passes."""
    for call, told in ((1, "first"), (2, "second")):
        arguments = *rng.normal(size=(2, 5)), call, float(rng.uniform(0.1, 0.5))
        expected, got = (who.scenario.slopes_when_it_raises(*arguments) for who in (reference, learner))
        compare(got, expected, case=f"the {told} call of loss_of raises")


@exercise("slopes")
def test_every_kind_of_input(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes and layouts of the direction; frozen, tied and None; a buffer, eval mode."""
    for kind in kinds:
        (direction,) = kind.drawn.values()
        start, grads = ([rng.normal(size=one.shape).astype(one.dtype) for one in direction] for _ in range(2))
        arguments = direction, start, grads, float(rng.uniform(0.1, 0.3)), kind.states
        expected, got = (who.scenario.slopes_in_states(*arguments) for who in (reference, learner))
        compare(got, expected, case=kind.label, **(FLOAT32 if direction[0].dtype == np.float32 else LARGE_STEP))
