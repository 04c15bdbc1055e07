"""Scenarios of first_nonfinite."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.faulty_models import ERRORS, _model
from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _named

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


def nonfinite_of_lstm(submission: Any, weights: float, x: np.ndarray) -> Any:
    """The result for an LSTM, whose output is a tuple of a tensor and a tuple, followed by a Linear."""

    class Reader(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = torch.nn.Linear(3, 1, dtype=torch.float64)
            self.lstm = torch.nn.LSTM(x.shape[-1], 3, dtype=torch.float64)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            _, (_, cell) = self.lstm(x)
            value: torch.Tensor = self.head(cell[-1])
            return value

    with _fresh():
        model = Reader()
        with torch.no_grad():
            next(model.lstm.parameters())[0, 0] = weights
        return _named(submission.first_nonfinite(model, torch.tensor(x)))


def after_nonfinite(submission: Any, kind: str, setting: Any, x: np.ndarray, training: bool) -> dict[str, Any]:
    """Side effects of first_nonfinite on a model that already has a gradient and hooks."""
    with _fresh():
        model, inputs = _model(kind, setting).train(training), torch.tensor(x)
        scale, frozen = (torch.nn.Parameter(torch.ones(2), requires_grad=required) for required in (True, False))
        for own, parameter in {"scale": scale, "frozen": frozen}.items():
            parameter.grad = torch.full((2,), 0.5)
            model.register_parameter(own, parameter)
        runs: list[int] = []
        model.register_forward_hook(lambda module, inputs, output: runs.append(1))
        model.register_forward_pre_hook(lambda module, inputs: runs.append(1))
        hooks, raised, name = _hooks(model), False, None
        try:
            name = submission.first_nonfinite(model, inputs)
        except tuple(ERRORS.values()) as error:
            raised = error.args == ("the model's own error",)
            if not raised:
                raise
        left = _hooks(model)
        result: dict[str, Any] = {
            "A hook is left on the model; remove() each, in a finally block": left > hooks,
            "A hook that was there before the call is gone": left < hooks,
            "The model ran more than once": len(runs) > 2,
            "A parameter of the model was changed": not bool((scale == 1).all()),
            "A .grad of the model was changed": any(
                one.grad is None or not bool((one.grad == 0.5).all()) for one in (scale, frozen)
            ),
            "A parameter has another requires_grad afterwards": not scale.requires_grad or frozen.requires_grad,
            f"The model is in {'eval' if training else 'train'} mode afterwards, and it was not": any(
                module.training is not training for module in model.modules()
            ),
            "x was changed": not np.array_equal(inputs.numpy(), x),
        }
        if kind == "raises":  # the run may stop once the name is known
            ended_early = name == "layer" and not model.has_raised
            result["The model's own exception was caught; let it pass"] = not (raised or ended_early)
        else:
            result["the name"] = _named(name)
        return result
