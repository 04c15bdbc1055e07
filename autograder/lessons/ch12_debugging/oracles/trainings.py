"""The programs compared with the same training by hand in float64."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import torch

SEEDS = range(5)


def of(reference, name):
    return reference.implementations[name]


def mlp(seed, *widths, act=torch.nn.Tanh):
    torch.manual_seed(seed)
    modules = []
    for fan_in, fan_out in itertools.pairwise(widths):
        modules += [torch.nn.Linear(fan_in, fan_out), act()]
    return torch.nn.Sequential(*modules[:-1])


def regression(seed, n, d, steps):
    g = torch.Generator().manual_seed(seed)
    return [((X := torch.randn(n, d, generator=g)), X.sin().sum(dim=1, keepdim=True) / d) for _ in range(steps)]


def classification(seed, n, d, classes, steps):
    g = torch.Generator().manual_seed(seed)
    W = torch.randn(d, classes, generator=g)
    return [((X := torch.randn(n, d, generator=g)), (X @ W).argmax(dim=1)) for _ in range(steps)]


def double(batch):
    return tuple(part.double() if part.is_floating_point() else part for part in batch)


def by_hand(modules, loss_fn, batches, lr, *, accumulate=1, decay=0.0, max_norm=math.inf, after=None):
    """SGD in float64 on copies: p −= lr · (mean gradient + decay · p), clipped; losses, copies, results of `after`."""
    copies = [copy.deepcopy(module).double() for module in modules]
    parameters = [parameter for module in copies for parameter in module.parameters()]
    losses, noted = [], []
    for start in range(0, len(batches), accumulate):
        sums = [torch.zeros_like(parameter) for parameter in parameters]
        for batch in batches[start : start + accumulate]:
            loss = loss_fn(*copies, *double(batch))
            losses.append(float(loss.detach()))
            for total, grad in zip(sums, torch.autograd.grad(loss, parameters), strict=True):
                total += grad / accumulate
        norm = math.sqrt(sum(float((grad**2).sum()) for grad in sums))
        with torch.no_grad():
            for parameter, grad in zip(parameters, sums, strict=True):
                parameter -= lr * (grad * min(1.0, max_norm / norm) + decay * parameter)
            if after is not None:
                noted.append(float(after(*copies)))
    return losses, copies, noted


def same(got, expected):
    np.testing.assert_allclose([float(value) for value in got], expected, rtol=2e-4, atol=1e-6)


def same_modules(modules, copies):
    for module, twin in zip(modules, copies, strict=True):
        for mine, its in zip(module.parameters(), twin.parameters(), strict=True):
            np.testing.assert_allclose(mine.detach().numpy(), its.detach().numpy(), rtol=1e-3, atol=1e-5)


def squares(model, X, y):
    return ((model(X) - y) ** 2).mean()


def nll(logits, y):
    return -(logits - torch.logsumexp(logits, dim=1, keepdim=True))[torch.arange(len(y)), y].mean()
