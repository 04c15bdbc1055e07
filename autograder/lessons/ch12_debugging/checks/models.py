"""Random models and data."""

from __future__ import annotations

import itertools
import math

import numpy as np

from autograder.judging import F32

NAMES = ("encoder", "decoder", "head", "norm", "embed", "mix", "gate", "out", "first", "last", "proj", "skip")


def some_names(rng, count):
    return [str(name) for name in rng.choice(NAMES, size=count, replace=False)]


def layer(rng, fan_in, fan_out):
    """A Linear's weights and bias, as large as PyTorch makes them."""
    bound = 1 / math.sqrt(fan_in)
    return {
        "W": rng.uniform(-bound, bound, size=(fan_out, fan_in)).astype(F32),
        "b": rng.uniform(-bound, bound, size=fan_out).astype(F32),
    }


def layers(rng, *widths):
    return [layer(rng, fan_in, fan_out) for fan_in, fan_out in itertools.pairwise(widths)]


def regression(rng, n, d, steps):
    """Batches of points with a smooth function of them."""
    W = rng.normal(size=(d, 1)) / math.sqrt(d)
    drawn = [rng.normal(size=(n, d)) for _ in range(steps)]
    return [(X.astype(F32), np.sin(2 * X @ W).astype(F32)) for X in drawn]


def classification(rng, n, d, classes, steps):
    """Batches of points, each labelled with the one of `classes` directions in which it is largest."""
    W = rng.normal(size=(d, classes))
    drawn = [rng.normal(size=(n, d)) for _ in range(steps)]
    return [(X.astype(F32), (X @ W).argmax(axis=1)) for X in drawn]
