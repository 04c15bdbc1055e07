"""The reference of reversible_block against something independent."""

from __future__ import annotations

import torch
import torch.utils.checkpoint
from torch import nn

from autograder.judging import exercise
from course.instruments.live import LiveStorages


@exercise("reversible_block")
def test_block_against_autograd(reference):
    """The block written down, with what autograd makes of it; and back from its outputs."""
    block = reference.implementations["reversible_block"]
    f, g = (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)).double() for _ in range(2))
    for n in (1, 5):
        x1, x2, dy1, dy2 = torch.randn(4, n, 4, dtype=torch.float64).unbind()
        found = []
        for run in (block, lambda f, g, x1, x2: ((y1 := x1 + f(x2)), x2 + g(y1))):
            leaves = [x.clone().requires_grad_() for x in (x1, x2)]
            for module in (f, g):
                module.zero_grad()
            y1, y2 = run(f, g, *leaves)
            torch.autograd.backward([y1, y2], [dy1, dy2])
            parameters = [p.grad.clone() for module in (f, g) for p in module.parameters()]
            found.append([y1.detach(), y2.detach(), *(leaf.grad for leaf in leaves), *parameters])
        for mine, theirs in zip(*found, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-11, atol=1e-13)


@exercise("reversible_block")
def test_block_keeps_its_outputs(reference):
    """Two tensors, however wide f and g are."""
    f, g = (nn.Sequential(nn.Linear(16, 512), nn.Tanh(), nn.Linear(512, 16)) for _ in range(2))
    x1, x2 = torch.randn(2, 32, 16).unbind()
    with LiveStorages() as live:
        a, b = (x.clone().requires_grad_() for x in (x1, x2))
        pair = reference.implementations["reversible_block"](f, g, a, b)
        del a, b
        assert live.bytes - 2 * x1.nbytes == sum(y.nbytes for y in pair)  # the graph keeps the leaves
