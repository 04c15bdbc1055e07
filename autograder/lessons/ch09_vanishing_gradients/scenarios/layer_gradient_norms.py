"""Scenarios of layer_gradient_norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch09_vanishing_gradients.scenarios.chains import (
    _chain,
    _changes,
    _linear,
    _prepare,
    _with_batchnorm,
)


class _HeadFirst(torch.nn.Module):
    """Its head runs last but is first in modules(); its body has nested modules."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.head = _linear(layers[-1])
        self.body = torch.nn.Sequential(_chain(layers[:-1], "tanh"), torch.nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


class _Recurrent(torch.nn.Module):
    """Its middle layer runs twice."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.first, self.middle, self.last = map(_linear, layers)
        self.middle_again = self.middle

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.middle(torch.tanh(self.first(x))))
        return self.last(torch.tanh(self.middle_again(h)))


class _Tied(torch.nn.Module):
    """Two of its Linears have one weight."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.first, self.middle, self.last = map(_linear, layers)
        self.again = _linear(layers[1])
        self.again.weight = self.middle.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.middle(torch.tanh(self.first(x))))
        return self.last(torch.tanh(self.again(h)))


class _Embedded(torch.nn.Module):
    """Has weights outside of Linears: a scale, a LayerNorm and a convolution."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        width = layers[0]["W"].shape[0]
        self.first = _linear(layers[0])
        self.norm = torch.nn.LayerNorm(width, dtype=self.first.weight.dtype)
        self.smooth = torch.nn.Conv1d(1, 1, 1, dtype=self.first.weight.dtype)
        self.last = _linear(layers[1])
        with torch.no_grad():
            self.smooth.weight.fill_(0.7)
            self.smooth.bias.fill_(0.1)  # type: ignore[union-attr]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.smooth(self.norm(self.first(x)).unsqueeze(1)).squeeze(1)
        return self.last(torch.tanh(h))


class _Derived(torch.nn.Linear):
    """A Linear of the caller's."""


def _of_derived(layers: Sequence[dict]) -> torch.nn.Module:
    """A chain whose first Linear is of a derived class."""
    model = _chain(layers, "tanh")
    model[0].__class__ = _Derived
    return model


class _Attention(torch.nn.Module):
    """Attention between the rows of the batch; its out_proj is an instance of a class derived from Linear."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        first, middle, last = map(_linear, layers)
        self.first = first
        self.mix = torch.nn.MultiheadAttention(middle.in_features, 2, dtype=middle.weight.dtype)
        self.last = last
        with torch.no_grad():
            entries = torch.arange(self.mix.in_proj_weight.numel(), dtype=middle.weight.dtype)
            self.mix.in_proj_weight.copy_(entries.sin().view_as(self.mix.in_proj_weight))
            self.mix.out_proj.weight.copy_(middle.weight)
            self.mix.out_proj.bias.copy_(middle.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x)
        return self.last(h + self.mix(h, h, h)[0])


KINDS: dict[str, Callable[[Sequence[dict]], torch.nn.Module]] = {
    "sigmoid": lambda layers: _chain(layers, "sigmoid"),
    "tanh": lambda layers: _chain(layers, "tanh"),
    "one linear": lambda layers: _linear(layers[0]),
    "head first": _HeadFirst,
    "recurrent": _Recurrent,
    "tied": _Tied,
    "embedded": _Embedded,
    "derived": _of_derived,
    "attention": _Attention,
    "batchnorm": _with_batchnorm,
}


@torch.enable_grad()
def gradient_norms(
    submission: Any, kind: str, layers: list[dict], X: np.ndarray, y: np.ndarray, training: bool = True
) -> Any:
    """The norms for a model of these layers."""
    model = KINDS[kind](layers).train(training)
    return submission.layer_gradient_norms(model, torch.tensor(X), torch.tensor(y))


@torch.enable_grad()
def gradient_norms_twice(submission: Any, layers: list[dict], X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The norms of two calls."""
    model, inputs, targets = _chain(layers, "tanh"), torch.tensor(X), torch.tensor(y)
    return {call: submission.layer_gradient_norms(model, inputs, targets) for call in ("first call", "second call")}


@torch.enable_grad()
def after_gradient_norms(
    submission: Any, kind: str, layers: list[dict], X: np.ndarray, y: np.ndarray, training: bool
) -> dict[str, Any]:
    """Side effects of layer_gradient_norms on a model that already has gradients."""
    model, inputs, targets = KINDS[kind](layers), torch.tensor(X), torch.tensor(y)
    before = _prepare(model, training)
    norms = submission.layer_gradient_norms(model, inputs, targets)
    return {
        **_changes(model, before, training),
        "X was changed": not np.array_equal(inputs.numpy(), X),
        "the norms": norms,
    }
