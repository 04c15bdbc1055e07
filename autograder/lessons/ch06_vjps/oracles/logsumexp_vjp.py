"""The reference of logsumexp_vjp against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import EXTREME, assert_agree, autograd


@exercise("logsumexp_vjp")
def test_logsumexp(reference, rng):
    for x in [rng.normal(size=(3, 4, 2)), rng.normal(size=(1, 1)), EXTREME]:
        for axis in range(-x.ndim, x.ndim):
            g = rng.normal(size=x.sum(axis=axis).shape)
            theirs = autograd(lambda t, a=axis: torch.logsumexp(t, dim=a), g, x)
            assert_agree(reference.logsumexp_vjp(g, x, axis), theirs)
