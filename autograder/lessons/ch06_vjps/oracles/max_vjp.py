"""The reference of max_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("max_vjp")
def test_max(reference, rng):
    """torch.amax shares ties equally, as we do (torch.max along an axis does not)."""
    for x in [rng.normal(size=(3, 4, 2)), rng.integers(3, size=(4, 5, 3)).astype(np.float64), np.ones((2, 3, 4))]:
        for axis in (0, 1, 2, -1, -3):
            g = rng.normal(size=x.max(axis=axis).shape)
            assert_agree(reference.max_vjp(g, x, axis), autograd(lambda t, a=axis: torch.amax(t, dim=a), g, x))
