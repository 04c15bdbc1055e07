"""The reference of repeated_batches against something independent."""

from __future__ import annotations

import math

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import of


@exercise("repeated_batches")
def test_pairs_against_numpy(reference, rng):
    for _ in range(30):
        choices = [
            np.array([1.0, math.nan]),
            np.array([1.0, 2.0]),
            np.array([1, 2]),
            np.array([[1.0, 2.0]]),
            np.zeros(0),
        ]
        batches = [
            tuple(choices[int(i)] for i in rng.integers(len(choices), size=rng.integers(1, 3)))
            for _ in range(int(rng.integers(20)))
        ]
        expected = [
            (i, j)
            for i in range(len(batches))
            for j in range(i + 1, len(batches))
            if len(batches[i]) == len(batches[j])
            and all(
                a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                for a, b in zip(batches[i], batches[j], strict=True)
            )
        ]
        tensors = [tuple(map(torch.tensor, batch)) for batch in batches]
        assert of(reference, "repeated_batches")(tensors) == sorted(expected)
