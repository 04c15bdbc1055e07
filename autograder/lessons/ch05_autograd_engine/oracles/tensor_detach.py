"""The reference of Tensor.detach against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import same, torch_leaf


@exercise("Tensor.detach")
def test_detach_against_torch(reference, rng):
    """Gradients of products with a detached factor, and shared memory."""
    x, g = rng.normal(size=(2, 3))
    a, b = reference.module.Tensor(x, requires_grad=True), torch_leaf(x)
    for function in (lambda t: t * t.detach(), lambda t: (t * t).detach() * t, lambda t: (t * t).detach() + t * t):
        function(a).backward(g)
        function(b).backward(torch.tensor(g))
    same(a.grad, b.grad)
    for h in (a * a, b * b):
        detached = h.detach()
        detached.data[0] = 7.0
        assert h.data[0] == 7.0
        assert not detached.requires_grad
