"""The reference of fix_07 against something independent."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import SEEDS, by_hand, classification, mlp, nll, of, same


@exercise("fix_07")
@pytest.mark.parametrize("seed", SEEDS)
def test_07_by_hand(reference, seed):
    model, batches, X = mlp(seed, 3, 6, 4), classification(seed, 8, 3, 4, 12), torch.randn(5, 3)
    losses, copies, _ = by_hand([model], lambda model, X, y: nll(model(X), y), batches, 0.4)
    got, p = of(reference, "fix_07")(model, batches, X, 0.4)
    same(got, losses)
    z = np.exp(copies[0](X.double()).detach().numpy())
    np.testing.assert_allclose(p.numpy(), z / z.sum(axis=1, keepdims=True), rtol=1e-3, atol=1e-5)
