"""The reference of relu_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("relu_vjp")
def test_relu(reference, rng):
    for x in [rng.normal(size=(3, 4)), np.array([0.0, -0.0, 1e-300, -1e-300]), np.asarray(1.5)]:
        g = np.asarray(rng.normal(size=x.shape))
        assert_agree(reference.relu_vjp(g, x), autograd(torch.relu, g, x))
