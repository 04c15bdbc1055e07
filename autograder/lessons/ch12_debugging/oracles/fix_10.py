"""The reference of fix_10 against something independent."""

from __future__ import annotations

import pytest

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import (
    by_hand,
    mlp,
    of,
    regression,
    same,
    same_modules,
    squares,
)


@exercise("fix_10")
@pytest.mark.parametrize("accumulate", [1, 2, 4])
def test_10_by_hand(reference, accumulate):
    model, batches = mlp(accumulate, 3, 6, 1), regression(accumulate, 4, 3, 16)
    losses, copies, _ = by_hand([model], squares, batches, 0.2, accumulate=accumulate, decay=0.05)
    same(of(reference, "fix_10")(model, batches, accumulate, 0.2), losses)
    same_modules([model], copies)
