"""Functions, and their Hessians by PyTorch."""

from __future__ import annotations

import torch


def functions(rng):
    """Functions of a tensor of shape (2, 3), their Hessians full, diagonal and 0."""
    a, W = torch.tensor(rng.normal(size=(2, 3))), torch.tensor(rng.normal(size=(3, 4)), requires_grad=True)
    return [
        lambda x: (torch.tanh(x @ W) ** 2).sum() + (a * x**3).sum(),
        lambda x: torch.logsumexp(x.reshape(-1), 0) * (a * x).sum(),
        lambda x: (a * x**4).sum(),
        lambda x: (a * x).sum(),
        lambda x: (x @ W).sum(),
        lambda x: (W**2).sum(),
        lambda x: torch.tensor(1.0, dtype=torch.float64),
    ]


def hessian_of(f, x):
    return torch.autograd.functional.hessian(f, x).reshape(x.numel(), x.numel()).detach()
