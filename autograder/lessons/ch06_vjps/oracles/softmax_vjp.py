"""The reference of softmax_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import EXTREME, assert_agree, autograd


@exercise("softmax_vjp")
def test_softmax(reference, rng):
    for x in [rng.normal(size=(3, 4, 2)), rng.normal(size=(1, 1)), EXTREME, np.zeros((0, 3))]:
        for axis in range(-x.ndim, x.ndim):
            if x.shape[axis]:
                g = rng.normal(size=x.shape)
                theirs = autograd(lambda t, a=axis: torch.softmax(t, dim=a), g, x)
                assert_agree(reference.softmax_vjp(g, x, axis), theirs)
