"""Small networks, and their gradients without checkpoints."""

from __future__ import annotations

import torch
import torch.utils.checkpoint
from torch import nn


def feed_forward(width=6, layers=3, dropout=0.3):
    """A small network with dropout and LayerNorm, in float64."""
    parts: list[nn.Module] = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.GELU(), nn.Dropout(dropout), nn.LayerNorm(width)]
    return nn.Sequential(*parts).double()


def gradients_of(model, x, run):
    """Value and gradients of the sum of squares of `run(x)`, including x's if it requires one."""
    model.zero_grad()
    x.grad = None
    torch.manual_seed(3)
    y = run(x)
    torch.rand(5)
    (y**2).sum().backward()
    return [y.detach(), x.grad, *(parameter.grad for parameter in model.parameters())]


def assert_same(got, expected):
    for mine, theirs in zip(got, expected, strict=True):
        if theirs is None:
            assert mine is None
        else:
            assert torch.equal(mine, theirs)
