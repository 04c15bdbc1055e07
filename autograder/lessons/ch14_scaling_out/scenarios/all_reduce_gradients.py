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
    _of_ranks_with_sentences,
    _requires_grad,
    _shown,
    _side_by_side,
    _tensor,
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
def gradients_in_states(submission: Any, grads: Arrays, counts: list[int], states: dict[str, str]) -> dict[str, Any]:
    """Every rank's gradients, of a model in these states; rank r has r + 1 times `grads`. And what else changed."""

    def step(group: Group) -> dict[str, Any]:
        model = _model_in_states(grads, group.rank + 1, states)
        named = dict(model.named_parameters(remove_duplicate=False))
        before = {name: one.detach().clone() for name, one in model.state_dict().items()}
        flags = {name: one.requires_grad for name, one in named.items()}
        submission.all_reduce_gradients(model, group, counts[group.rank])
        after = dict(model.state_dict())
        changed = after.keys() != before.keys() or not all(torch.equal(after[name], before[name]) for name in before)
        return {
            "A parameter or a buffer is another one afterwards: only .grad is to change": changed,
            "The model is in another mode afterwards": model.training is (states["model mode"] == "in eval mode"),
            "A parameter has another requires_grad afterwards": any(
                one.requires_grad is not flags[name] for name, one in named.items()
            ),
            **{f"{name}.grad": _data(one.grad) for name, one in named.items()},
        }

    return _of_ranks_with_sentences(_side_by_side(step, len(counts)))


def _model_in_states(grads: Arrays, times: float, states: dict[str, str]) -> nn.Module:
    """Layers with one parameter each, which have these gradients times a number unless they are frozen."""
    model = nn.Sequential(*(nn.Module() for _ in grads))
    frozen = {"frozen": len(grads), "frozen in part": 1}.get(states["model parameters"], 0)
    for i, (layer, grad) in enumerate(zip(model, grads, strict=True)):
        laid = _tensor(grad, states["grads layout"])
        layer.register_parameter("weight", nn.Parameter(torch.zeros_like(laid), requires_grad=i >= frozen))
        layer.get_parameter("weight").grad = None if i < frozen else _tensor(grad * times, states["grads layout"])
    if states["model buffers"] == "with a buffer":
        model.register_buffer("mean", torch.ones(2))
    if states["model names"] == "with a tied parameter":
        model.append(nn.Module())
        model[-1].register_parameter("weight", model[-2].get_parameter("weight"))
    return model.train(states["model mode"] != "in eval mode")


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
