"""The reference of FusedCrossEntropy against something independent."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from autograder.judging import EXACT, exercise


@exercise("FusedCrossEntropy")
def test_cross_entropy_against_pytorch(reference, rng):
    loss_of = reference.implementations["FusedCrossEntropy"].apply
    for n, c, scale in [(1, 1, 1), (1, 2, 1), (4, 3, 1), (3, 7, 1000), (20, 5, 3)]:
        logits, targets = rng.normal(scale=scale, size=(n, c)), torch.tensor(rng.integers(c, size=n))
        results = []
        for f in (loss_of, cross_entropy):
            leaf = torch.tensor(logits, requires_grad=True)
            loss = f(leaf, targets)
            (-2.5 * loss).backward()
            results.append((loss.detach().numpy(), leaf.grad.numpy()))
        for got, expected in zip(*results, strict=True):
            np.testing.assert_allclose(got, expected, **EXACT)
