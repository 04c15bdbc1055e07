"""The reference of saved_bytes against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch07_mlp_backprop.oracles.networks import random_params


@exercise("saved_bytes")
def test_saved_bytes_against_arrays(reference, rng):
    """The arrays themselves: what forward keeps, and the softmax."""
    for dtype in (np.float32, np.float64):
        n, d, m, o = (int(size) for size in rng.integers(1, 30, size=4))
        params = {name: array.astype(dtype) for name, array in random_params(rng, d, m, o).items()}
        logits, cache = reference.forward(params, rng.normal(size=(n, d)).astype(dtype))
        softmax = torch.softmax(torch.tensor(logits), dim=1).numpy()
        kept = [value for value in cache.values() if isinstance(value, np.ndarray)]
        expected = sum(array.nbytes for array in [*kept, softmax])
        assert reference.saved_bytes(n, d, m, o, np.dtype(dtype).itemsize) == expected
