"""The reference of first_nonfinite against something independent."""

from __future__ import annotations

import math

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import of


@exercise("first_nonfinite")
def test_first_layer_against_a_loop(reference, rng):
    """Layers of a Sequential, run by hand, one after the other."""
    for _ in range(20):
        depth = int(rng.integers(1, 6))
        model = torch.nn.Sequential(*(torch.nn.Linear(3, 3, dtype=torch.float64) for _ in range(depth)))
        with torch.no_grad():
            for layer in model:
                if rng.random() < 0.3:
                    layer.bias[int(rng.integers(3))] = float(rng.choice([math.nan, math.inf]))
        x = rng.normal(size=(2, 3))
        expected, h = None, x
        for i, layer in enumerate(model):
            with np.errstate(all="ignore"):
                h = h @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
            if expected is None and not np.isfinite(h).all():
                expected = str(i)
        assert of(reference, "first_nonfinite")(model, torch.tensor(x)) == expected
