"""The reference of fix_03 against something independent."""

from __future__ import annotations

import numpy as np
import pytest

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


@exercise("fix_03")
@pytest.mark.parametrize("seed", SEEDS)
def test_03_by_hand(reference, seed):
    encoder, head, batches = mlp(seed, 3, 6, 5), mlp(seed + 9, 5, 3), classification(seed, 8, 3, 3, 12)
    spreads = []

    def loss(encoder, head, X, y):
        features = encoder(X)
        spreads.append(float(np.std(features.detach().numpy(), ddof=1)))
        return nll(head(features), y)

    losses, copies, _ = by_hand([encoder, head], loss, batches, 0.4)
    got = of(reference, "fix_03")(encoder, head, batches, 0.4)
    same(got[0], losses)
    same(got[1], spreads)
    same_modules([encoder, head], copies)
