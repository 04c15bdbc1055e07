"""The reference of bias_gradient against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch03_accumulation.oracles.graphs import leaf


@exercise("bias_gradient")
def test_bias_against_autograd(reference, rng):
    for n, m in [(1, 1), (1, 3), (5, 2), (0, 3)]:
        b, g = leaf(rng.normal(size=m)), rng.normal(size=(n, m))
        y = torch.tensor(rng.normal(size=(n, m))) + b
        np.testing.assert_allclose(
            reference.bias_gradient(g), torch.autograd.grad(y, b, torch.tensor(g), materialize_grads=True)[0], **EXACT
        )
