"""The reference of train against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch07_mlp_backprop.oracles.networks import leaf, torch_logits


@exercise("train")
def test_training_against_torch(reference, rng):
    """Gradient descent on one batch of all rows, step by step, by torch.optim from the reference's own start."""
    X, y = rng.uniform(size=(30, 64)), np.arange(30) % 10
    options = {"hidden": 7, "lr": 0.3, "seed": 5}
    leaves = {name: leaf(array) for name, array in reference.train(X, y, epochs=0, **options).items()}
    optimizer = torch.optim.SGD(leaves.values(), lr=0.3)
    for _ in range(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(torch_logits(leaves, X, "relu"), torch.tensor(y)).backward()
        optimizer.step()
    for name, array in reference.train(X, y, epochs=20, **options).items():
        np.testing.assert_allclose(array, leaves[name].detach(), rtol=1e-9, atol=1e-11)
