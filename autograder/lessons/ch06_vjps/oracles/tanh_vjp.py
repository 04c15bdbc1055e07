"""The reference of tanh_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("tanh_vjp")
def test_tanh(reference, rng):
    for x in [2 * rng.normal(size=(3, 4)), np.array([0.0, 1000.0, -1000.0])]:
        g = rng.normal(size=x.shape)
        assert_agree(reference.tanh_vjp(g, x), autograd(torch.tanh, g, x))
