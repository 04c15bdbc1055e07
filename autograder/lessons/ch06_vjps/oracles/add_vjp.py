"""The reference of add_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import BROADCAST, assert_agree, autograd


@exercise("add_vjp")
def test_add(reference, rng):
    for a_shape, b_shape in BROADCAST:
        a, b = rng.normal(size=a_shape), rng.normal(size=b_shape)
        g = rng.normal(size=(a + b).shape)
        assert_agree(reference.add_vjp(g, np.asarray(a), np.asarray(b)), autograd(torch.add, g, a, b))
