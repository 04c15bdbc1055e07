"""The reference of maxpool2d_vjp against something independent."""

from __future__ import annotations

import numpy as np
from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("maxpool2d_vjp")
def test_maxpool2d(reference, rng):
    for shape, size in [((1, 1, 2, 2), 2), ((2, 3, 6, 4), 2), ((2, 2, 5, 7), 2), ((1, 2, 8, 7), 3), ((1, 1, 2, 3), 1)]:
        for x in [rng.normal(size=shape), rng.integers(2, size=shape).astype(np.float64), np.zeros(shape)]:
            g = rng.normal(size=(*shape[:2], shape[2] // size, shape[3] // size))
            theirs = autograd(lambda t, s=size: functional.max_pool2d(t, s), g, x)
            assert_agree(reference.maxpool2d_vjp(g, x, size), theirs)
