"""Scenarios of all_reduce_gradients."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from autograder.lessons.ch14_scaling_out.scenarios.ranks import (
    Arrays,
    _at_once,
    _data,
    _of_ranks,
    _requires_grad,
    _shown,
    _side_by_side,
    _Weighing,
)
from course.process_groups import Group


class _Network(nn.Module):
    """tanh(x W1 + b) W2 with a factor of the loss; optionally an unused and a frozen parameter."""

    def __init__(self, weights: Arrays, spare: bool) -> None:
        super().__init__()
        W1, b, W2 = map(torch.tensor, weights)
        self.W1, self.b = nn.Parameter(W1), nn.Parameter(b)
        if spare:
            self.frozen = nn.Parameter(torch.ones_like(self.b), requires_grad=False)
            self.unused = nn.Parameter(torch.ones_like(self.b))
        self.W2 = nn.Parameter(W2)
        self.factor = nn.Parameter(torch.tensor(1.5, dtype=self.b.dtype))

    def loss(self, X: Tensor, y: Tensor) -> Tensor:
        """A mean over the rows; without rows it is nan, and so is the gradient of the factor."""
        return self.factor * (torch.tanh(X @ self.W1 + self.b) @ self.W2 - y).square().mean()


@torch.enable_grad()
def gradients(
    submission: Any, weights: Arrays, shards: list[Arrays], backward_without_rows: bool, spare_parameters: bool
) -> dict[str, Any]:
    """Every rank's gradients; a rank without rows may or may not have called backward on an empty mean."""
    model = _Network(weights, spare_parameters)

    def step(group: Group) -> _Network:
        mine = copy.deepcopy(model)
        X, y = map(torch.tensor, shards[group.rank])
        if len(X) or backward_without_rows:
            mine.loss(X, y).backward()
        submission.all_reduce_gradients(mine, group, len(X))
        return mine

    models = _side_by_side(step, len(shards))
    return {
        "The parameters are others afterwards: only their .grad is to change": not all(
            torch.equal(mine, theirs)
            for of in models
            for mine, theirs in zip(model.parameters(), of.parameters(), strict=True)
        ),
        "A .grad has a graph behind it: it requires a gradient": any(
            _requires_grad(parameter.grad) for of in models for parameter in of.parameters()
        ),
        "A parameter that requires no gradient has one afterwards": any(
            not parameter.requires_grad and parameter.grad is not None for of in models for parameter in of.parameters()
        ),
        **{
            f"{name}.grad on rank {rank}": _data(parameter.grad)
            for rank, of in enumerate(models)
            for name, parameter in of.named_parameters()
            if parameter.requires_grad
        },
    }


@torch.enable_grad()
def gradients_of_counts(submission: Any, grads: list[Arrays], counts: list[int]) -> dict[str, Any]:
    """Every rank's gradients after all-reduce, from given ones and given numbers of rows."""

    def step(group: Group) -> dict[str, Any]:
        mine = _Network(grads[group.rank], spare=False)
        for parameter in mine.parameters():
            parameter.grad = parameter.detach().clone()
        submission.all_reduce_gradients(mine, group, counts[group.rank])
        return {f"{name}.grad": _data(parameter.grad) for name, parameter in mine.named_parameters()}

    return _of_ranks(_side_by_side(step, len(counts)))


@torch.enable_grad()
def gradients_of_two_groups(submission: Any, weights: Arrays, groups: list[list[Arrays]]) -> dict[str, Any]:
    """Every rank's gradients where two groups with other rows run at the same time."""
    model = _Network(weights, spare=False)

    def step(number: int, group: Any) -> dict[str, Any]:
        mine = copy.deepcopy(model)
        X, y = map(torch.tensor, groups[number][group.rank])
        mine.loss(X, y).backward()
        submission.all_reduce_gradients(mine, group, len(X))
        return {f"{name}.grad": _data(parameter.grad) for name, parameter in mine.named_parameters()}

    both = _at_once(step, len(groups[0]))
    return {
        f"{name} of group {number}": value
        for number, found in enumerate(both, 1)
        for name, value in _of_ranks(found).items()
    }


@torch.enable_grad()
def gradients_of_messages(submission: Any, weights: Arrays, shards: list[Arrays], seed: int | None) -> dict[str, Any]:
    """Every rank's gradients; with a seed, what is sent is multiplied by drawn numbers."""
    model = _Network(weights, spare=False)

    def step(group: Group) -> dict[str, Any]:
        mine = copy.deepcopy(model)
        X, y = map(torch.tensor, shards[group.rank])
        mine.loss(X, y).backward()
        of_messages = group if seed is None else _Weighing(group, seed)
        submission.all_reduce_gradients(mine, _shown(of_messages), len(X))
        return {f"{name}.grad": _data(parameter.grad) for name, parameter in mine.named_parameters()}

    return _of_ranks(_side_by_side(step, len(shards)))
