"""Checks of predicted_factor."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise, expect_close
from autograder.lessons.ch09_vanishing_gradients.checks.standard_deviations import fan
from autograder.lessons.ch09_vanishing_gradients.checks.tolerances import EXACT

NAMES = ("predicted_factor",)
RELU, NOTHING, ABSOLUTE = (0, 1), (1, 1), (-1, 1)
MEASURED = {"rtol": 0.1, "atol": 0.0}
"""The largest deviation of 2,000 random blocks was 4.1 %."""


def check_factor(learner, reference, *block, case):
    got, expected = (who.predicted_factor(*block) for who in (learner, reference))
    expect_close(got, expected, names=NAMES, case=case, **EXACT)


def leaky(rng):
    """Slopes of a LeakyReLU."""
    return float(rng.uniform(0.05, 0.6)), 1.0


def falling_slopes(rng):
    """The larger slope on the left, and none below 0."""
    return float(rng.uniform(1.1, 1.8)), float(rng.uniform(0.1, 0.6))


def any_slopes(rng):
    return float(rng.uniform(-2, -0.5)), float(rng.uniform(0.3, 1.8))


def some_variance(rng, fans):
    return float(rng.uniform(0.3, 3)) / fans


@exercise("predicted_factor")
def test_plain_blocks(learner, reference, rng):
    """Without a skip: square layers, then layers that narrow and widen."""
    for case, slopes, fan_in, fan_out in [
        ("no activation, as many outputs as inputs", NOTHING, 100, 100),
        ("ReLU", RELU, 100, 100),
        ("the absolute value", ABSOLUTE, 64, 64),
        ("a LeakyReLU", leaky(rng), 64, 64),
        ("slopes of any size", any_slopes(rng), 64, 64),
        ("the larger slope on the left", falling_slopes(rng), 64, 64),
        ("a ReLU turned round, slopes (1, 0)", (1, 0), 64, 64),
        ("no activation, fewer outputs than inputs", NOTHING, 300, fan(rng, 20, 90)),
        ("a LeakyReLU, more outputs than inputs", leaky(rng), 30, fan(rng, 100, 900)),
    ]:
        check_factor(learner, reference, slopes, fan_in, fan_out, some_variance(rng, fan_in), case=case)


@exercise("predicted_factor")
def test_branches(learner, reference, rng):
    """With a skip, and a branch that counts in full, little, negatively, or more than once."""
    for case, slopes, branch in [
        ("ReLU, a branch that counts in full", RELU, 1.0),
        ("ReLU, a quiet branch", RELU, float(rng.uniform(0.05, 0.3))),
        ("a LeakyReLU, a loud branch", leaky(rng), float(rng.uniform(1.5, 3))),
        ("slopes of any size, a branch that is taken away", any_slopes(rng), -float(rng.uniform(0.3, 0.8))),
        ("a LeakyReLU, a loud branch that is taken away", leaky(rng), -float(rng.uniform(1.5, 3))),
        ("a LeakyReLU, a branch that is an int", leaky(rng), fan(rng, 2, 5)),
    ]:
        width = fan(rng, 30, 300)
        check_factor(learner, reference, slopes, width, width, some_variance(rng, width), branch, case=case)


@exercise("predicted_factor")
def test_no_branch_and_silent_branches(learner, reference, rng):
    """branch=0 is not branch=None; and weights that are all 0."""
    slopes, width = leaky(rng), fan(rng, 30, 300)
    variance = some_variance(rng, width)
    check_factor(learner, reference, slopes, width, width, variance, None, case="no skip")
    check_factor(learner, reference, slopes, width, width, variance, 0.0, case="a skip whose branch is multiplied by 0")
    check_factor(learner, reference, slopes, width, width, variance, 0, case="a skip whose branch is the int 0")
    check_factor(learner, reference, slopes, width, width, 0.0, 1.0, case="a skip, all weights 0")
    check_factor(learner, reference, slopes, width, width, 0.0, None, case="no skip, all weights 0")
    check_factor(learner, reference, (0, 0), width, width, variance, None, case="both slopes are 0, no skip")


@exercise("predicted_factor")
def test_sizes_of_layers(learner, reference, rng):
    """One unit, a million units; whole numbers; large and small variances."""
    for case, slopes, fan_in, fan_out, variance in [
        ("one input, one output", leaky(rng), 1, 1, float(rng.uniform(0.5, 2))),
        ("three inputs, one output", leaky(rng), 3, 1, float(rng.uniform(0.5, 2))),
        ("one input, three outputs", leaky(rng), 1, 3, float(rng.uniform(0.5, 2))),
        ("a million outputs", RELU, 10, 10**6, float(rng.uniform(1e-6, 3e-6))),
        ("a variance that is a whole number", RELU, 2, 2, fan(rng, 2, 9)),
        ("a tiny variance", leaky(rng), 50, 50, float(rng.uniform(1e-30, 3e-30))),
    ]:
        check_factor(learner, reference, slopes, fan_in, fan_out, variance, case=case)


@exercise("predicted_factor")
def test_one_block_after_another(learner, reference, rng):
    """Slopes in a list, and the same block once more after another one."""
    first = (list(any_slopes(rng)), 40, 40, some_variance(rng, 40), float(rng.uniform(0.2, 0.9)))
    second = (list(falling_slopes(rng)), 70, 20, some_variance(rng, 70), None)  # sorting a list would change it
    for case, block in [("a block", first), ("another block", second), ("the first block again", first)]:
        check_factor(learner, reference, *block, case=case)


def measured_block(rng, slopes, fan_in, fan_out, variance, branch):
    """rms(dL/dx) / rms(dL/doutput) of one block with random weights, on a batch of 64."""
    W = rng.normal(size=(fan_out, fan_in)) * np.sqrt(variance)
    x, g = rng.normal(size=(64, fan_in)), rng.normal(size=(64, fan_out))
    through_f = (g * np.where(x @ W.T < 0, *slopes)) @ W
    dx = through_f if branch is None else g + branch * through_f
    return float(np.sqrt((dx**2).mean() / (g**2).mean()))


@exercise("predicted_factor")
def test_against_measured_blocks(learner, reference, rng):
    """The prediction and what random weights give, within 10 %."""
    for case, slopes, fan_in, fan_out, branch in [
        ("measured: ReLU", RELU, 200, 200, None),
        ("measured: a LeakyReLU, 400 inputs, 100 outputs", leaky(rng), 400, 100, None),
        ("measured: the absolute value, 100 inputs, 400 outputs", ABSOLUTE, 100, 400, None),
        ("measured: ReLU with a skip", RELU, 200, 200, 1.0),
        ("measured: slopes of any size, a skip, half a branch", any_slopes(rng), 200, 200, 0.5),
    ]:
        block = (slopes, fan_in, fan_out, some_variance(rng, fan_in), branch)
        check_factor(learner, reference, *block, case=case)
        expect_close(learner.predicted_factor(*block), measured_block(rng, *block), names=NAMES, case=case, **MEASURED)
