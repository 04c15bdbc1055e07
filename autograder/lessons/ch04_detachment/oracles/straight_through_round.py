"""The reference of straight_through_round against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise


class _Identity(torch.autograd.Function):
    """Rounds in forward and passes the gradient through, as the definition says."""

    @staticmethod
    def forward(ctx, x):
        return torch.from_numpy(np.asarray(np.rint(x.detach().numpy())))

    @staticmethod
    def backward(ctx, g):
        return g


@exercise("straight_through_round")
def test_rounding_against_a_function(reference, rng):
    for dtype in (np.float32, np.float64):
        for shape in [(), (1,), (0, 2), (3, 4), (500,)]:
            x, g = (np.asarray(rng.normal(scale=10, size=shape), dtype=dtype) for _ in range(2))
            if x.size > 1:
                x.flat[0] = 2.5
            gradients = []
            for function in (reference.implementations["straight_through_round"], _Identity.apply):
                leaf = torch.tensor(x, requires_grad=True)
                y = function(leaf)
                (3 * y).backward(torch.tensor(g))
                gradients.append(leaf.grad.numpy())
                np.testing.assert_array_equal(y.detach().numpy(), np.rint(x))
            np.testing.assert_array_equal(*gradients)
