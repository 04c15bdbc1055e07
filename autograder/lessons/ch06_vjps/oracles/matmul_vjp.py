"""The reference of matmul_vjp against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("matmul_vjp")
def test_matmul(reference, rng):
    for A_shape, B_shape in [
        ((1, 1), (1, 1)),
        ((4, 3), (3, 5)),
        ((2, 4, 3), (2, 3, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((3, 4), (2, 5, 4, 2)),
        ((3, 1, 2, 2), (1, 3, 2, 1)),
    ]:
        A, B = rng.normal(size=A_shape), rng.normal(size=B_shape)
        g = rng.normal(size=(A @ B).shape)
        assert_agree(reference.matmul_vjp(g, A, B), autograd(torch.matmul, g, A, B))
