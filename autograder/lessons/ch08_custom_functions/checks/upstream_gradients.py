"""Upstream gradients, and tolerances for float32."""

from __future__ import annotations

import numpy as np

from autograder.judging import F64

SINGLE = {"rtol": 2e-5, "atol": 1e-5}


def upstream(rng, shape, dtype=F64):
    return np.asarray(rng.normal(size=shape), dtype=dtype)


def not_one(rng):
    """An upstream gradient that is neither 0 nor 1, of either sign."""
    return float(rng.uniform(1.5, 3.5) * rng.choice([-1, 1]))
