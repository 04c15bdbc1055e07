"""Random layers and batches."""

from __future__ import annotations

import itertools
import math

from autograder.judging import F64, random


def layer(rng, fan_in, fan_out, dtype=F64, scale=1.0):
    """A Linear's weights and bias, as large as PyTorch makes them."""
    bound = scale / math.sqrt(fan_in)
    return {
        "W": rng.uniform(-bound, bound, size=(fan_out, fan_in)).astype(dtype),
        "b": rng.uniform(-bound, bound, size=fan_out).astype(dtype),
    }


def layers(rng, *widths, dtype=F64, scale=1.0):
    """Linears from each width to the next."""
    return [layer(rng, fan_in, fan_out, dtype, scale) for fan_in, fan_out in itertools.pairwise(widths)]


def batch(rng, n, d, classes, dtype=F64):
    return random(rng, (n, d), dtype), rng.integers(classes, size=n)
