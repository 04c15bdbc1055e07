"""Random layers, and the order in which they ran."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from autograder.judging import (
    F64,
    random,
)


def layer(rng, n_in: int, n_out: int, dtype=F64) -> dict[str, np.ndarray]:
    """Weights of a layer tanh(x W + b)."""
    return {"W": random(rng, (n_in, n_out), dtype) / dtype(np.sqrt(n_in)), "b": random(rng, n_out, dtype) / dtype(2)}


def stack(rng, widths, dtype=F64) -> list[dict[str, np.ndarray]]:
    return [layer(rng, *pair, dtype=dtype) for pair in pairwise(widths)]


def runs(order: list[int]) -> list[int]:
    """Lengths of the runs of consecutive layers in the order of recomputation, sorted by layer."""
    lengths = [1]
    for before, after in pairwise(order):
        if after == before + 1:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths[::-1]
