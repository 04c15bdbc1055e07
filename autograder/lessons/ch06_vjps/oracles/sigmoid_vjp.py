"""The reference of sigmoid_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("sigmoid_vjp")
def test_sigmoid(reference, rng):
    for x in [3 * rng.normal(size=(3, 4)), np.array([0.0, 1000.0, -1000.0, 40.0, -40.0])]:
        g = rng.normal(size=x.shape)
        assert_agree(reference.sigmoid_vjp(g, x), autograd(torch.sigmoid, g, x))
