"""The reference of mul_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import BROADCAST, assert_agree, autograd


@exercise("mul_vjp")
def test_mul(reference, rng):
    for a_shape, b_shape in BROADCAST:
        a, b = np.asarray(rng.normal(size=a_shape)), np.asarray(rng.normal(size=b_shape))
        g = np.asarray(rng.normal(size=(a * b).shape))
        assert_agree(reference.mul_vjp(g, a, b), autograd(torch.mul, g, a, b))
