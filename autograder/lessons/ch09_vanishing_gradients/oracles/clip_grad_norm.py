"""The reference of clip_grad_norm against something independent."""

from __future__ import annotations

import math

import numpy as np
import torch

from autograder.judging import exercise


@exercise("clip_grad_norm")
def test_clipping_against_torch(reference, rng):
    """torch.nn.utils.clip_grad_norm_ in float64, whose epsilon of 1e-6 is lost beside large norms."""
    for shapes in [[(3,)], [(3, 2), (3,), ()], [(4, 1, 2), (0,), (5,)]]:
        for share in (0.01, 0.7, 1.5):
            parameters = [torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in shapes]
            for parameter in parameters:
                parameter.grad = torch.tensor(np.asarray(1e6 * rng.normal(size=parameter.shape)))
            grads = [parameter.grad.clone() for parameter in parameters]
            max_norm = share * math.sqrt(math.fsum(x * x for grad in grads for x in grad.flatten().tolist()))
            clipped, total = reference.implementations["clip_grad_norm"](grads, max_norm)
            theirs = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
            assert type(total) is float
            assert math.isclose(total, theirs.item(), rel_tol=1e-12)
            for mine, parameter in zip(clipped, parameters, strict=True):
                torch.testing.assert_close(mine, parameter.grad, rtol=1e-10, atol=0)
            norm = math.sqrt(sum(grad.square().sum().item() for grad in clipped))
            assert math.isclose(norm, min(total, max_norm), rel_tol=1e-12)
