"""Scenarios of SavedTensorMeter."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


def _leaf(shape: tuple[int, ...], device: str = "cpu") -> Tensor:
    return torch.ones(shape, device=device, requires_grad=True)


def _program(kind: str, n: int, m: int, device: str) -> list[Any]:
    """Run a program of sizes n and m; keep its result alive as long as the meter is in use."""
    x = _leaf((n, m), device)
    if kind == "nothing":
        return [x + x, 2 * x]
    if kind == "one result":
        return [x.exp()]
    if kind == "two factors":
        return [x * _leaf((n, m), device)]
    if kind == "one storage, saved by two operations":
        h = 2 * x
        return [h * h, h.sin(), h.t() @ h]
    if kind == "a view of a part":
        return [(2 * x)[:, :1].sin()]
    if kind == "a view of a part, detached":
        return [x * (2 * x)[:, :1].detach()]
    if kind == "a view that repeats one row":
        return [(2 * x[:1]).expand(n, m).sin()]
    if kind == "two views that begin at different places":
        h = 2 * x
        return [h[:1].sin(), h[1:].cos()]
    if kind == "several storages of one size":
        h = x.exp()
        return [h, h.exp(), (3 * x).sin()]
    if kind == "another dtype":
        return [x.double().exp(), x.bfloat16().sin()]
    if kind == "no numbers":
        return [x[:0].exp().sum() + (x * 2).sin().sum()]
    if kind == "a constant factor":
        return [x * torch.ones(n, m, device=device)]
    if kind == "data in front of a layer":
        return [nn.Linear(m, n, device=device)(torch.ones(n, m, device=device))]
    if kind == "indices and a mask":
        rows = torch.zeros(m, dtype=torch.int64, device=device)
        return [x[rows] + 1, torch.where(torch.ones(n, 1, dtype=torch.bool, device=device), x, 2 * x)]
    if kind == "a frozen parameter and its views":
        frozen = nn.Parameter(torch.ones(n, m, device=device), requires_grad=False)
        return [x * frozen, x * frozen[:1], x @ frozen.t()]
    if kind == "parameters and their views":
        first, second = nn.Linear(m, n + 1, device=device), nn.Linear(n + 1, 2, device=device)
        weight = nn.Parameter(torch.ones(n, m, device=device))
        return [second(first(x).relu()), x * weight, x.detach() * weight[:1], x.detach() @ weight.t()]
    return [_network(kind, n, m)]


def _network(kind: str, n: int, m: int) -> Tensor:
    """The loss of a small network on n rows or tokens, whose width depends on m."""
    width = 4 * m
    labels = torch.arange(n) % 3
    if kind == "a classifier of data":
        hidden = nn.Linear(m, width)(torch.ones(n, m))
        hidden = nn.functional.dropout(nn.functional.layer_norm(hidden, (width,)).relu(), 0.5)
        return nn.functional.cross_entropy(nn.Linear(width, 3)(hidden), labels)
    if kind == "a language model":
        h = nn.Embedding(5, width)(torch.arange(n) % 5)
        q, k, v = nn.Linear(width, 3 * width)(h).split(width, dim=-1)
        scores = (q @ k.t() / width**0.5).masked_fill(torch.ones(n, n).triu(1) > 0, -torch.inf)
        h = h + nn.Linear(width, width)(scores.softmax(dim=-1) @ v)
        return nn.functional.cross_entropy(nn.Linear(width, 3)(h), labels)
    if kind == "a frozen body and a head":
        body = nn.Sequential(nn.Linear(m, width), nn.Tanh(), nn.Linear(width, width)).requires_grad_(False)
        prompt = _leaf((n, m))  # a trained prefix, so that backward passes through the frozen weights
        return nn.Linear(width, 1)(body(prompt)).square().mean()
    raise ValueError(kind)


@torch.enable_grad()
def metered(submission: Any, kind: str, n: int, m: int, device: str) -> dict[str, Any]:
    """The meter's numbers for a program; tensors made before the block count if they are saved in it."""
    meter = submission.SavedTensorMeter()
    with meter as entered:
        kept = _program(kind, n, m, device)
        within = entered.bytes
    after = meter.bytes
    del kept
    return {"meter.bytes": after, "meter.bytes within the block": within}


@torch.enable_grad()
def block_of_the_meter(submission: Any, n: int, m: int, how: str) -> dict[str, Any]:
    """What counts before, in and after the block, and what remains."""
    x, before = _leaf((n, m)), _leaf((m, n))
    made = 3 * before
    kept = [x.exp()]
    outer, inner = submission.SavedTensorMeter(), submission.SavedTensorMeter()
    at_first, came_out, nested = getattr(outer, "bytes", None), how != "raises", 0
    try:
        with outer:
            kept.append(made.sin())
            if how == "raises":
                raise KeyError("the block's own")
            if how == "nested":
                with inner:
                    kept.append(x.tanh())
                nested = inner.bytes
                kept.append((5 * x).cos())
    except KeyError:
        came_out = True
    at_the_end = outer.bytes
    if how == "one after the other":  # tensors that the first meter already knows
        with inner:
            kept.append(made.tanh() * made)
        nested = inner.bytes
    kept.append((2 * x).sin())
    return {
        "The exception of the block did not come out of it": not came_out,
        "What is saved after the block was counted: the hooks were not removed": outer.bytes != at_the_end,
        "bytes at first": at_first,
        "bytes": at_the_end,
        "bytes of the inner meter": nested,
    }


@torch.enable_grad()
def gradients_under_the_meter(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """Gradients of a backward pass inside the block and of one after it."""
    found: dict[str, Any] = {}
    for name in ("inside of", "after"):
        leaf = torch.tensor(x, requires_grad=True)
        meter = submission.SavedTensorMeter()
        with meter:
            y = (leaf * leaf).exp() * leaf
            if name == "inside of":
                y.backward(torch.tensor(g))
        if name == "after":
            y.backward(torch.tensor(g))
        found[f"dx, backward {name} the block"] = None if leaf.grad is None else leaf.grad.numpy().copy()
        found[f"bytes, backward {name} the block"] = meter.bytes
    return found


@torch.enable_grad()
def let_go(submission: Any, n: int, rounds: int) -> dict[str, Any]:
    """Whether memory is freed while the meter lives, and whether new tensors at the same address count."""
    alive = []
    x = _leaf((n, n))
    with submission.SavedTensorMeter() as meter:
        for _ in range(rounds):
            y = x.exp()
            storage = y.untyped_storage()
            alive.append(weakref.ref(storage))
            del y, storage
    left = sum(ref() is not None for ref in alive)
    return {
        "Memory that nobody else has is still there: the meter keeps it alive": left > 0,
        "What came to the place of what was let go is not counted": meter.bytes < rounds * 4 * n * n,
        "More is counted than was saved": meter.bytes > rounds * 4 * n * n,
    }
