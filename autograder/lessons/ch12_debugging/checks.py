"""Checks of ch12_debugging: four tools by what they say of models with known faults, twelve programs by what they do.

A program is compared with the right one, on models and data of the check's own: its losses, one by one, and the trained
parameters. A repair that hides the symptom ends elsewhere. Right repairs differ by rounding alone; each tolerance says
how far they were from each other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.diagnosis.equality import wrong_entries
from autograder.judging import F32, F64, compare, exercise, expect, expect_close, fine, random

RUN: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-5}
"""For float32 programs of some tens of steps. Right repairs were within 1e-5 of each other."""
IDENTICAL: dict[str, Any] = {"rtol": 0.0, "atol": 0.0}


# The programs


def layer(rng, fan_in, fan_out):
    """A Linear's weights and bias, as large as PyTorch makes them."""
    bound = 1 / math.sqrt(fan_in)
    return {
        "W": rng.uniform(-bound, bound, size=(fan_out, fan_in)).astype(F32),
        "b": rng.uniform(-bound, bound, size=fan_out).astype(F32),
    }


def layers(rng, *widths):
    return [layer(rng, fan_in, fan_out) for fan_in, fan_out in zip(widths, widths[1:], strict=False)]


def regression(rng, n, d, steps):
    """Batches of points and a smooth function of them."""
    W = rng.normal(size=(d, 1)) / math.sqrt(d)
    drawn = [rng.normal(size=(n, d)) for _ in range(steps)]
    return [(X.astype(F32), np.sin(2 * X @ W).astype(F32)) for X in drawn]


def classification(rng, n, d, classes, steps):
    """Batches of points and which of `classes` directions each has most of."""
    W = rng.normal(size=(d, classes))
    drawn = [rng.normal(size=(n, d)) for _ in range(steps)]
    return [(X.astype(F32), (X @ W).argmax(axis=1)) for X in drawn]


def rate(rng, lr):
    """A learning rate near `lr`: one that a program makes up by itself is another."""
    return float(lr * rng.uniform(0.8, 1.2))


SERIES = ("losses", "spreads", "validation losses")


def same_run(got, expected, *, case, **tolerance):
    """Expect the losses of the right program, step by step, then all else that a scenario brings back."""
    tolerance = tolerance or RUN
    if not fine(got, expected, case=case):
        return
    for name in (name for name in SERIES if name in expected):
        problem = told_of_series(name, got[name], expected[name], **tolerance)
        expect(problem is None, problem or "", case=case)
    for name, value in expected.items():
        if not isinstance(value, bool):
            expect_close(got[name], value, names=(name,), case=case, **tolerance)


def told_of_series(name, got, expected, *, rtol, atol):
    """Where the numbers that a program returned leave those of the right one, in a sentence; None where they do not."""
    one = name.removesuffix("es").removesuffix("s") if name != "spreads" else "spread"
    if not isinstance(got, np.ndarray):
        return f"The {name} are no list of numbers where one is expected."
    if got.shape != expected.shape:
        return f"There are {got.size} {name}; {expected.size} expected. Every step counts, and no other."
    wrong = wrong_entries(got, expected, rtol=rtol, atol=atol)
    if not wrong.any():
        return None
    first = int(wrong.argmax()) + 1
    value = "nan" if np.isnan(got[first - 1]) else "inf" if np.isinf(got[first - 1]) else "not that of the right program"
    if first == 1 and name == "losses":
        return f"The first {one} is {value}. No step was made before it: the loss itself is computed in another way."
    if first == 1:
        return f"The first {one} is {value}."
    return f"The first {first - 1} of the {name} are right. Number {first} is {value}: look at the step before it."


def run(scenario, learner, reference, *arguments, case, **tolerance):
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    same_run(got, expected, case=case, **tolerance)


# gradient_report
# TOOLS


# fix_01


@exercise("fix_01")
def test_fix_01(learner, reference, rng):
    """Each step follows the gradient of its own batch."""
    for n, d, width, steps in [(4, 1, 2, 6), (16, 3, 8, 30)]:
        arguments = layers(rng, d, width, 1), regression(rng, n, d, steps), rate(rng, 0.1)
        run("one_model", learner, reference, "fix_01", *arguments, case=f"{steps} batches of {n}")


# fix_02


@exercise("fix_02")
def test_fix_02(learner, reference, rng):
    """The residual network with all of its gradients."""
    for d, depth, steps in [(2, 1, 4), (3, 3, 15)]:
        stack, head = layers(rng, *[d] * (depth + 1)), layer(rng, d, 3)
        arguments = stack, head, classification(rng, 8, d, 3, steps), rate(rng, 0.5)
        case = f"{depth} residual layer{'s' * (depth > 1)}, {steps} batches"
        run("residual", learner, reference, *arguments, case=case)


# fix_03


@exercise("fix_03")
def test_fix_03(learner, reference, rng):
    """Encoder and head learn, both."""
    for widths, steps in [((2, 3), 5), ((4, 8, 6), 20)]:
        encoder, head = layers(rng, *widths), layer(rng, widths[-1], 3)
        arguments = encoder, head, classification(rng, 12, widths[0], 3, steps), rate(rng, 0.5)
        case = f"an encoder of {len(encoder)} layer{'s' * (len(encoder) > 1)}, {steps} batches"
        run("encoder_and_head", learner, reference, *arguments, case=case)


# fix_04


@exercise("fix_04")
def test_fix_04(learner, reference, rng):
    """The model learns, and the validation loss is noted after each step."""
    for widths, steps in [((2, 3), 4), ((3, 8, 3), 15)]:
        *data, validation = classification(rng, 10, widths[0], 3, steps + 1)
        arguments = layers(rng, *widths), data, list(validation), rate(rng, 0.5)
        case = f"{len(widths) - 1} layer{'s' * (len(widths) > 2)}, {steps} batches"
        run("validated", learner, reference, *arguments, case=case)


# fix_05


@exercise("fix_05")
def test_fix_05(learner, reference, rng):
    """All layers learn, and all are saved."""
    for n_in, width, depth, steps in [(2, 4, 1, 6), (3, 8, 3, 20)]:
        data = classification(rng, 12, n_in, 3, steps)
        X = random(rng, (5, n_in), F32)
        arguments = int(rng.integers(2**31)), (n_in, 3, width, depth), data, X, rate(rng, 0.4)
        case = f"{depth} hidden layer{'s' * (depth > 1)}, {steps} batches"
        run("built", learner, reference, *arguments, case=case)


# fix_06


@exercise("fix_06")
def test_fix_06(learner, reference, rng):
    """The numbers that were right before, and no graph that outlives its step."""
    for n, d, steps in [(4, 2, 8), (12, 3, 20)]:
        *data, validation = regression(rng, n, d, steps + 1)
        arguments = layers(rng, d, 6, 1), data, list(validation), rate(rng, 0.1)
        case = f"{steps} batches of {n}"
        expected, got = (who.scenario.history(*arguments) for who in (reference, learner))
        graphs, returned = got.pop("graphs"), got.pop("returned graphs")
        expected = {name: value for name, value in expected.items() if "graphs" not in name}
        lean = graphs <= 4
        message = (
            f"At one time the graphs of {graphs} of {2 * steps} passes through the model are alive, with all their "
            "activations; the last two are enough."
        )
        expect(lean, message, case=case)
        expect(not returned, "The losses that are returned have a graph.", case=case)
        if lean and not returned:
            same_run(got, expected, case=case)
        else:
            expect_close(np.array([graphs, returned]), np.array([0, False]), names=("graphs",), case=case, **IDENTICAL)


# fix_07


@exercise("fix_07")
def test_fix_07(learner, reference, rng):
    """The cross-entropy of the logits; probabilities for new points."""
    for d, classes, steps in [(2, 2, 5), (3, 4, 20)]:
        data = classification(rng, 12, d, classes, steps)
        arguments = layers(rng, d, 8, classes), data, random(rng, (4, d), F32), rate(rng, 0.5)
        run("probabilities", learner, reference, *arguments, case=f"{classes} classes, {steps} batches")


# fix_08


def with_forbidden(rng, data, classes, share):
    """(X, allowed, y): the right action of each row is allowed, others with this probability not."""
    found = []
    for i, (X, y) in enumerate(data):
        allowed = rng.random((len(X), classes)) >= (share if i else 0.0)
        if i:
            allowed[0] = np.arange(classes) == y[0]  # one action is left: its probability is 1
        allowed[np.arange(len(X)), y] = True
        found.append((X, allowed, y))
    return found


@exercise("fix_08")
def test_fix_08(learner, reference, rng):
    """Batches with and without forbidden actions."""
    for d, classes, steps in [(2, 3, 4), (3, 5, 15)]:
        data = with_forbidden(rng, classification(rng, 8, d, classes, steps), classes, 0.4)
        settings = float(rng.uniform(0.2, 0.6)), rate(rng, 0.3)
        arguments = layers(rng, d, 6, classes), data, *settings
        run("one_model", learner, reference, "fix_08", *arguments, case=f"{classes} actions, {steps} batches")


# fix_09


@exercise("fix_09")
def test_fix_09(learner, reference, rng):
    """The model as it is used: in eval mode. And the next epoch in train mode."""
    for n, n_val, count in [(4, 5, 2), (8, 12, 4), (6, 1, 3)]:
        data, ((X, y),) = classification(rng, n, 3, 3, 3), classification(rng, n_val, 3, 3, 1)
        settings = count, rate(rng, 0.2)
        arguments = int(rng.integers(2**31)), layers(rng, 3, 8, 3), 0.4, data, [X, y], *settings
        points = f"{n_val} point{'s' * (n_val > 1)} in the validation set"
        run("epochs", learner, reference, *arguments, case=f"{count} epochs, {points}")


# fix_10


@exercise("fix_10")
def test_fix_10(learner, reference, rng):
    """One step for `accumulate` micro-batches is the step of one large batch."""
    for accumulate, steps in [(2, 2), (4, 6), (3, 4)]:
        data = regression(rng, 4, 3, accumulate * steps)
        arguments = layers(rng, 3, 6, 1), data, accumulate, rate(rng, 0.2)
        run("one_model", learner, reference, "fix_10", *arguments, case=f"accumulate={accumulate}, {steps} steps")


# fix_11

HALF: dict[str, Any] = {"rtol": 1e-2, "atol": 5e-3}
"""Right repairs, with factors from 2 ** 10 to 2 ** 30, were within 1e-3 of each other; a factor of 16 is 0.07 away."""


@exercise("fix_11")
def test_fix_11(learner, reference, rng):
    """The loss of the float32 program, with matrix products in float16."""
    for n_tokens, steps in [(4e7, 6), (2e7, 15)]:
        data = classification(rng, 16, 4, 3, steps)
        arguments = layers(rng, 4, 8, 3), data, n_tokens, rate(rng, 0.02)
        case = f"n_tokens={n_tokens:.0e}, {steps} batches"
        run("half_precision", learner, reference, *arguments, case=case, **HALF)


# fix_12


def with_an_outlier(rng, data):
    """One value of one batch, not of the last ones, is a thousand times too large: in X or in y."""
    i, which = int(rng.integers(1, len(data) - 1)), int(rng.integers(2))
    arrays = [array.copy() for array in data[i]]
    arrays[which][int(rng.integers(len(arrays[which]))), 0] = 1e3 * rng.choice([-3, 3])
    return [*data[:i], tuple(arrays), *data[i + 1 :]]


@exercise("fix_12")
def test_fix_12(learner, reference, rng):
    """Steps with the common norm of all gradients bounded, and the others as they were."""
    for n, d, steps in [(4, 2, 5), (12, 3, 20)]:
        data = with_an_outlier(rng, regression(rng, n, d, steps))
        settings = float(rng.uniform(0.3, 0.6)), rate(rng, 0.1)
        arguments = layers(rng, d, 6, 1), data, *settings
        run("one_model", learner, reference, "fix_12", *arguments, case=f"{steps} batches of {n}")
