"""The reference of running_mean_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("running_mean_vjp")
def test_running_mean(reference, rng):
    """Autograd through the means, each taken on its own."""
    for shape in [(5,), (3, 4, 2), (1, 1), (0, 3)]:
        x, g = rng.normal(size=(2, *shape))
        for axis in range(-x.ndim, x.ndim):
            if x.shape[axis]:
                theirs = autograd(lambda t, a=axis: means(t, a), g, x)
                assert_agree(reference.running_mean_vjp(g, x, axis), theirs)


def means(t, axis):
    slices = [t.narrow(axis, 0, i + 1).mean(dim=axis) for i in range(t.shape[axis])]
    return torch.stack(slices, dim=axis)


@exercise("running_mean_vjp")
def test_by_hand(reference, rng):
    """y = (x0, (x0 + x1) / 2), so dx = (g0 + g1 / 2, g1 / 2)."""
    g0, g1 = rng.normal(size=2)
    dx = reference.running_mean_vjp(np.array([g0, g1]), np.zeros(2))
    np.testing.assert_allclose(dx, [g0 + g1 / 2, g1 / 2], rtol=1e-14)
