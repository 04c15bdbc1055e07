"""The reference of cross_entropy_vjp against something independent."""

from __future__ import annotations

import torch
from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import EXTREME, assert_agree, autograd


@exercise("cross_entropy_vjp")
def test_cross_entropy(reference, rng):
    for logits in [rng.normal(size=(5, 4)), rng.normal(size=(1, 3)), rng.normal(size=(3, 1)), EXTREME]:
        n, c = logits.shape
        targets, g = rng.integers(c, size=n), rng.normal()
        theirs = autograd(lambda t, y=targets: functional.cross_entropy(t, torch.tensor(y)), g, logits)
        assert_agree(reference.cross_entropy_vjp(g, logits, targets), theirs)
