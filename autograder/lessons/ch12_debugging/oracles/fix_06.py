"""The reference of fix_06 against something independent."""

from __future__ import annotations

import pytest

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import (
    SEEDS,
    by_hand,
    double,
    mlp,
    of,
    regression,
    same,
    same_modules,
    squares,
)


@exercise("fix_06")
@pytest.mark.parametrize("seed", SEEDS)
def test_06_by_hand(reference, seed):
    model, (*batches, held_out) = mlp(seed, 3, 6, 1), regression(seed, 8, 3, 13)
    losses, copies, noted = by_hand(
        [model], squares, batches, 0.2, after=lambda model: squares(model, *double(held_out))
    )
    got = of(reference, "fix_06")(model, batches, held_out, 0.2)
    same(got[0], losses)
    same(got[1], noted)
    same_modules([model], copies)
