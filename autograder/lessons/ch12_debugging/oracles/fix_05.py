"""The reference of fix_05 against something independent."""

from __future__ import annotations

import pytest
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import (
    SEEDS,
    by_hand,
    classification,
    mlp,
    nll,
    of,
    same,
    same_modules,
)


@exercise("fix_05")
@pytest.mark.parametrize("seed", SEEDS)
def test_05_by_hand(reference, seed):
    batches = classification(seed, 8, 2, 3, 12)
    twin = mlp(seed, 2, 6, 6, 6, 3, act=torch.nn.ReLU)
    losses, copies, _ = by_hand([twin], lambda model, X, y: nll(model(X), y), batches, 0.3)
    torch.manual_seed(seed)
    model, got = of(reference, "fix_05")(2, 3, 6, 3, batches, 0.3)
    same(got, losses)
    same_modules([model], copies)
