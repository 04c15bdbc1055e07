"""The reference of dead_relu_fraction against something independent."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch

from autograder.judging import exercise


@exercise("dead_relu_fraction")
def test_share_by_brute_force(reference, rng):
    """Every unit on every row, in NumPy."""
    for widths in [(2, 6), (3, 5, 9), (2, 8, 8, 4)]:
        linears = [torch.nn.Linear(a, b, dtype=torch.float64) for a, b in itertools.pairwise(widths)]
        model = torch.nn.Sequential(*[module for linear in linears for module in (linear, torch.nn.ReLU())])
        with torch.no_grad():
            for linear in linears:
                linear.bias.copy_(torch.tensor(rng.normal(scale=2, size=linear.bias.shape)))
        X = rng.normal(size=(5, widths[0]))
        h, dead, units = X, 0, 0
        for linear in linears:
            h = np.maximum(h @ linear.weight.detach().numpy().T + linear.bias.detach().numpy(), 0)
            units += h.shape[1]
            dead += sum(all(h[i, j] == 0 for i in range(len(h))) for j in range(h.shape[1]))
        share = reference.implementations["dead_relu_fraction"](model, torch.tensor(X))
        assert type(share) is float
        assert math.isclose(share, dead / units)
