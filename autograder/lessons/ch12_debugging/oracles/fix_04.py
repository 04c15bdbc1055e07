"""The reference of fix_04 against something independent."""

from __future__ import annotations

import pytest

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import (
    SEEDS,
    by_hand,
    classification,
    double,
    mlp,
    nll,
    of,
    same,
    same_modules,
)


@exercise("fix_04")
@pytest.mark.parametrize("seed", SEEDS)
def test_04_by_hand(reference, seed):
    model, (*batches, held_out) = mlp(seed, 3, 6, 3), classification(seed, 8, 3, 3, 13)

    def loss(model, X, y):
        return nll(model(X), y)

    losses, copies, noted = by_hand([model], loss, batches, 0.2, after=lambda model: loss(model, *double(held_out)))
    got = of(reference, "fix_04")(model, batches, held_out, 0.2)
    same(got[0], losses)
    same(got[1], noted)
    same_modules([model], copies)
