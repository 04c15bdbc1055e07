"""The reference of cross_entropy_loss against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch07_mlp_backprop.oracles.networks import leaf


@exercise("cross_entropy_loss")
def test_cross_entropy_against_autograd(reference, rng):
    for n, o in [(1, 1), (1, 3), (5, 2), (6, 10)]:
        for scale in (1, 1000):
            z, targets = scale * rng.normal(size=(n, o)), rng.integers(o, size=n)
            logits = leaf(z)
            expected = torch.nn.functional.cross_entropy(logits, torch.tensor(targets))
            loss, dlogits = reference.cross_entropy_loss(z, targets)
            np.testing.assert_allclose(loss, expected.item(), **EXACT)
            np.testing.assert_allclose(dlogits, torch.autograd.grad(expected, logits)[0], **EXACT)
