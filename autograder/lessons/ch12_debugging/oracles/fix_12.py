"""The reference of fix_12 against something independent."""

from __future__ import annotations

import pytest

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import (
    SEEDS,
    by_hand,
    mlp,
    of,
    regression,
    same,
    same_modules,
    squares,
)


@exercise("fix_12")
@pytest.mark.parametrize("seed", SEEDS)
def test_12_by_hand(reference, seed):
    model, batches = mlp(seed, 3, 6, 1), regression(seed, 8, 3, 15)
    batches[6][1][2] = 3e3
    losses, copies, _ = by_hand([model], squares, batches, 0.1, max_norm=0.5)
    same(of(reference, "fix_12")(model, batches, 0.5, 0.1), losses)
    same_modules([model], copies)
