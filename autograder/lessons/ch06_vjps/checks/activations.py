"""Checks that all rules for activations share."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, random
from autograder.lessons.ch06_vjps.checks.agreement import DTYPES, SINGLE, agree_on

SHAPES = {
    "one entry": (1,),
    "a vector": (5,),
    "a matrix": (3, 4),
}
"""The shapes of plain numbers; all others come with `check_kinds`."""


def agree_activation(learner, reference, rng, name, inputs, dtype=F64, **tolerance):
    mine, theirs = getattr(learner, name), getattr(reference, name)
    for case, x in inputs.items():
        agree_on(mine, theirs, random(rng, x.shape, dtype), x, names=("dx",), case=case, **tolerance)


def extremes(rng, dtype=F64):
    """Inputs that saturate a function, with a moderate one in each case, so that some gradient is not 0."""
    moderate = rng.uniform(0.2, 2.0, size=4)
    return {
        "an entry of 1000": np.array([1000.0, moderate[0]], dtype=dtype),
        "an entry of -1000": np.array([-1000.0, moderate[1]], dtype=dtype),
        "entries of ±1000": np.array([[-1000.0, 0.0, 1000.0], [moderate[2], 710.0, -moderate[3]]], dtype=dtype),
        "entries of ±100": np.array([[-100.0, 100.0, -moderate[0]], [moderate[1], 90.0, -90.0]], dtype=dtype),
    }


def check_curve(learner, reference, rng, name):
    """g s (1 − s), where s is the sigmoid of x; g (1 − tanh²x)."""
    inputs = {"an entry of 0": np.zeros(1)} | {case: 2 * random(rng, shape) for case, shape in SHAPES.items()}
    agree_activation(learner, reference, rng, name, inputs)


def check_extremes(learner, reference, rng, name):
    """Far from 0 the gradient vanishes; it is never nan, in float32 either."""
    agree_activation(learner, reference, rng, name, extremes(rng))
    single = {f"float32, {case}": x for case, x in extremes(rng, F32).items()}
    agree_activation(learner, reference, rng, name, single, F32, **SINGLE)


def check_curve_dtypes(learner, reference, rng, name):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        inputs = {case: random(rng, (3, 4), x_dtype)}
        agree_activation(learner, reference, rng, name, inputs, g_dtype, **SINGLE)
