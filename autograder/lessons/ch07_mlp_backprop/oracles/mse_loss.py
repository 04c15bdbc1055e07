"""The reference of mse_loss against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch07_mlp_backprop.oracles.networks import leaf


@exercise("mse_loss")
def test_mse_against_autograd(reference, rng):
    for n, o in [(1, 1), (1, 4), (5, 1), (4, 3)]:
        y, t = rng.normal(size=(2, n, o))
        output = leaf(y)
        # torch averages over all entries, this lesson over rows with a one half
        expected = torch.nn.functional.mse_loss(output, torch.tensor(t)) * o / 2
        loss, dy = reference.mse_loss(y, t)
        np.testing.assert_allclose(loss, expected.item(), **EXACT)
        np.testing.assert_allclose(dy, torch.autograd.grad(expected, output)[0], **EXACT)
