"""The reference of single_example_gradients against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch07_mlp_backprop.oracles.networks import leaf


@exercise("single_example_gradients")
def test_single_example_against_autograd(reference, rng):
    for m, d, o in [(1, 1, 1), (4, 3, 2), (3, 3, 3)]:
        W1, W2, x, t = (rng.normal(size=shape) for shape in [(m, d), (o, m), d, o])
        V1, V2 = leaf(W1), leaf(W2)
        loss = 0.5 * (V2 @ torch.relu(V1 @ torch.tensor(x)) - torch.tensor(t)).square().sum()
        expected = torch.autograd.grad(loss, [V1, V2])
        for got, gradient in zip(reference.single_example_gradients(W1, W2, x, t), expected, strict=True):
            np.testing.assert_allclose(got, gradient, **EXACT)
