"""The reference of fix_08 against something independent."""

from __future__ import annotations

import pytest
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import (
    SEEDS,
    by_hand,
    classification,
    mlp,
    of,
    same,
    same_modules,
)


@exercise("fix_08")
@pytest.mark.parametrize("seed", SEEDS)
def test_08_by_hand(reference, seed):
    """Forbidden actions are left out of every sum, row by row."""
    model, g = mlp(seed, 3, 6, 4), torch.Generator().manual_seed(seed)
    batches = []
    for X, y in classification(seed, 6, 3, 4, 10):
        allowed = torch.rand(6, 4, generator=g) < 0.6
        allowed[torch.arange(6), y] = True
        batches.append((X, allowed, y))

    def loss(model, X, allowed, y):
        total = torch.zeros((), dtype=torch.float64)
        for logits, mask, target in zip(model(X), allowed, y, strict=True):
            p = logits[mask].exp() / logits[mask].exp().sum()
            total = total - torch.log(logits[target].exp() / logits[mask].exp().sum()) + 0.3 * (p * p.log()).sum()
        return total / len(X)

    losses, copies, _ = by_hand([model], loss, batches, 0.3)
    same(of(reference, "fix_08")(model, batches, 0.3, 0.3), losses)
    same_modules([model], copies)
