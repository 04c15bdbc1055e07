"""The reference of fix_01 against something independent."""

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


@exercise("fix_01")
@pytest.mark.parametrize("seed", SEEDS)
def test_01_by_hand(reference, seed):
    model, batches = mlp(seed, 3, 8, 1), regression(seed, 8, 3, 20)
    losses, copies, _ = by_hand([model], squares, batches, 0.1)
    same(of(reference, "fix_01")(model, batches, 0.1), losses)
    same_modules([model], copies)
