"""Scenarios of dead_relu_fraction."""

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
from autograder.lessons.ch09_vanishing_gradients.scenarios.networks import _of


class _TwiceTheSameReLU(torch.nn.Module):
    """One ReLU module used after both layers, and one that never runs."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.first, self.second, self.last = map(_linear, layers)
        self.relu, self.spare = torch.nn.ReLU(), torch.nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.relu(self.second(self.relu(self.first(x)))))


class _WritesIntoReLU(torch.nn.Module):
    """Adds a skip connection to the output of its ReLU, in place."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.first, self.second, self.last = map(_linear, layers)
        self.relus = torch.nn.ModuleList([torch.nn.ReLU(inplace=True), torch.nn.ReLU()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.relus[0](self.first(x))
        h += 1
        h = self.relus[1](self.second(h))
        h += 1
        return self.last(h)


class _DerivedReLU(torch.nn.ReLU):
    """A ReLU of the caller's."""


class _Raises(torch.nn.Module):
    """Runs its layers, then raises."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.body = _chain(layers, "relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.body(x)
        raise KeyError("the model's own error")


RELU_KINDS: dict[str, Callable[[Sequence[dict]], torch.nn.Module]] = {
    "relu": lambda layers: _chain(layers, "relu"),
    "alone": lambda layers: torch.nn.ReLU(),
    "sigmoid": lambda layers: _chain(layers, "sigmoid"),
    "mixed": lambda layers: torch.nn.Sequential(
        _linear(layers[0]), torch.nn.ReLU(), _linear(layers[1]), torch.nn.Sigmoid(), _linear(layers[2])
    ),
    "nested": lambda layers: torch.nn.Sequential(_chain(layers[:-1], "relu"), torch.nn.ReLU(), _linear(layers[-1])),
    "twice": _TwiceTheSameReLU,
    "derived": lambda layers: torch.nn.Sequential(
        _linear(layers[0]), _DerivedReLU(), _linear(layers[1]), torch.nn.ReLU(), _linear(layers[2])
    ),
    "in place": _WritesIntoReLU,
    "batchnorm": _with_batchnorm,
    "raises": _Raises,
}
GLOBAL_HOOKS = (
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
    "_global_backward_hooks",
    "_global_backward_pre_hooks",
)


def _hooks(model: torch.nn.Module) -> int:
    """The number of hooks, including global ones, and of replaced forwards."""
    everywhere = sum(len(getattr(torch.nn.modules.module, name, {})) for name in GLOBAL_HOOKS)
    return everywhere + sum(
        len(module._forward_hooks)
        + len(module._forward_pre_hooks)
        + len(module._backward_hooks)
        + ("forward" in vars(module))
        for module in model.modules()
    )


@torch.enable_grad()
def dead_fraction(submission: Any, kind: str, layers: list[dict], X: np.ndarray, training: bool = True) -> Any:
    """The share of dead units in a model of these layers."""
    return submission.dead_relu_fraction(RELU_KINDS[kind](layers).train(training), torch.tensor(X))


@torch.enable_grad()
def after_dead_fraction(
    submission: Any, kind: str, layers: list[dict], X: np.ndarray, training: bool
) -> dict[str, Any]:
    """Side effects of dead_relu_fraction on a model that already has gradients and two hooks."""
    model, inputs = RELU_KINDS[kind](layers), torch.tensor(X)
    before = _prepare(model, training)
    seen: list[int] = []
    for relu in _of(model, torch.nn.ReLU)[:2]:
        relu.register_forward_hook(lambda module, inputs, output: seen.append(1))
    hooks = _hooks(model)
    share, raised = None, False
    try:
        share = submission.dead_relu_fraction(model, inputs)
    except KeyError as error:
        raised = error.args == ("the model's own error",)
        if not raised:
            raise
    left = _hooks(model)
    result: dict[str, Any] = {
        "A hook is left on the model; remove() each, in a finally block": left > hooks,
        "A hook that was there before the call is gone": left < hooks,
        **_changes(model, before, training),
        "X was changed": not np.array_equal(inputs.numpy(), X),
    }
    if kind == "raises":
        result["The model's own exception was caught; let it pass"] = not raised
    else:
        result["the share"] = share
    return result
