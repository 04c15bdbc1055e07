"""Scenarios whose models and gradients are in the states that a row of factors says: see factors.toml."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.lessons.ch09_vanishing_gradients.scenarios.chains import GRADIENTS_OFF
from autograder.worker.layout import laid_out
from autograder.worker.returned import plain


def _lying(values: np.ndarray, layout: str) -> Tensor:
    return laid_out(torch.tensor(np.array(values)), layout)


def _fixed_linear(linear: nn.Linear, number: int) -> nn.Linear:
    """The layer with weights and biases that are always the same."""
    with torch.no_grad():
        for i, parameter in enumerate(linear.parameters()):
            entries = torch.arange(parameter.numel(), dtype=parameter.dtype) + 7 * number + i
            parameter.copy_(entries.sin().view_as(parameter))
    return linear


def _norm_in_eval(width: int, mode: str, dtype: torch.dtype) -> list[nn.Module]:
    """A BatchNorm, where a row says that it runs in eval mode; in train mode it needs more than one example."""
    return [] if mode == "plain" else [nn.BatchNorm1d(width, dtype=dtype)]


def _in_states(model: nn.Module, states: dict[str, str]) -> nn.Module:
    """The model with modes, parameters and grads as a row says."""
    model.train(states["model mode"] != "in eval mode")
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.eval()
    for name, parameter in model.named_parameters():
        frozen = states["model parameters"]
        parameter.requires_grad_(frozen == "plain" or (frozen == "with frozen biases" and not name.endswith("bias")))
        if states["model grads"] == "with grads":
            parameter.grad = torch.full_like(parameter, 0.5)
    return model


def _state_before(model: nn.Module) -> dict[str, Any]:
    """By a sentence about what changed: what a call leaves as it is."""
    parameters = list(model.parameters())
    return {
        "The mode of the model, or of a part of it, is another afterwards": [one.training for one in model.modules()],
        "requires_grad of a parameter changed": [one.requires_grad for one in parameters],
        "The values of parameters changed": [one.detach().tolist() for one in parameters],
        "A parameter's .grad is not what it was before the call: the caller may be adding up gradients there": [
            None if one.grad is None else one.grad.tolist() for one in parameters
        ],
    }


def _changed_since(model: nn.Module, before: dict[str, Any]) -> dict[str, bool]:
    found = {sentence: value != before[sentence] for sentence, value in _state_before(model).items()}
    return found | {GRADIENTS_OFF: not torch.is_grad_enabled()}


@torch.enable_grad()
def norms_in_states(
    submission: Any, X: np.ndarray, y: np.ndarray, classes: int, times: float, states: dict[str, str]
) -> dict[str, Any]:
    """The norms for a model of four Linears, of which two may be one module, inside of modules of their own."""
    inputs, targets = _lying(X * X.dtype.type(times), states["X layout"]), _lying(y, states["y layout"])
    sizes = [(X.shape[1], 3), (3, 3), (3, 3), (3, classes)]
    first, *middle, last = (_fixed_linear(nn.Linear(*size, dtype=inputs.dtype), i) for i, size in enumerate(sizes))
    if states["model places"] == "with a Linear at two places":
        middle = [middle[0], middle[0]]
    parts = [nn.Sequential(linear, nn.Tanh()) for linear in middle]
    model = nn.Sequential(first, *_norm_in_eval(3, states["model mode"], inputs.dtype), nn.Tanh(), *parts, last)
    before = _state_before(_in_states(model, states))
    norms = submission.layer_gradient_norms(model, inputs, targets)
    changed = _changed_since(model, before)
    if middle[0] is middle[1]:  # PyTorch's functional_call leaves another weight in a module that is at two places
        changed = {GRADIENTS_OFF: changed[GRADIENTS_OFF]}
    return {**changed, "the norms": norms}


class _Shifted(nn.Module):
    """x + b, with a number b."""

    def __init__(self, b: float, dtype: torch.dtype) -> None:
        super().__init__()
        self.b = nn.Parameter(torch.tensor(b, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.b


@torch.enable_grad()
def dead_in_states(submission: Any, X: np.ndarray, states: dict[str, str]) -> dict[str, Any]:
    """The share of dead units of three ReLUs, of which two may be one module, inside of modules of their own."""
    precision = states["model precision"]
    inputs = _lying(X, states["X layout"])
    inputs = inputs if precision == "plain" else inputs.to(getattr(torch, precision.removeprefix("in ")))
    first, second = nn.ReLU(), nn.ReLU()
    if states["model places"] == "with a ReLU at two places":
        second = first
    norm = _norm_in_eval(X.shape[1], states["model mode"], inputs.dtype)
    model = nn.Sequential(
        *norm,
        _Shifted(0.0, inputs.dtype),
        nn.Sequential(first),
        _Shifted(-1.0, inputs.dtype),
        nn.Sequential(second),
        _Shifted(-30.0, inputs.dtype),
        nn.ReLU(),
    )
    before = _state_before(_in_states(model, states))
    share = submission.dead_relu_fraction(model, inputs)
    return {**_changed_since(model, before), "the share": share}


def _in_float64(tensor: Tensor) -> np.ndarray:
    found: np.ndarray = tensor.detach().double().numpy().copy()
    return found


@torch.enable_grad()
def clipped_in_states(
    submission: Any, grads: list[np.ndarray], share: float, scale: float, states: dict[str, str]
) -> dict[str, Any]:
    """The norm and the clipped gradients, in the list and precision that a row says, clipped to a share of the norm."""
    precision = states["grads precision"]
    dtype = None if precision == "plain" else getattr(torch, precision.removeprefix("in "))
    scaled = [torch.tensor(np.array(grad)) * scale for grad in grads]
    given = [laid_out(grad.to(dtype), states["grads layout"]) for grad in scaled]
    if states["grads identity"] == "with one of them twice":
        given.append(given[0])
    before = [_in_float64(grad) for grad in given]
    max_norm = share * float(np.sqrt(sum((array**2).sum() for array in before)))
    result = plain(submission.clip_grad_norm(list(given), max_norm))
    pair = isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[0], list)
    clipped = result[0] if pair and all(isinstance(one, Tensor) for one in result[0]) else []
    return {
        "clip_grad_norm returned no pair of a list of tensors and a number": len(clipped) != len(given),
        "A clipped gradient has another dtype than the gradient": any(
            one.dtype != grad.dtype for one, grad in zip(clipped, given, strict=False)
        ),
        "A gradient was written into": not all(
            np.array_equal(_in_float64(grad), array) for grad, array in zip(given, before, strict=True)
        ),
        "total_norm": result[1] if pair else result,
        "clipped": [_in_float64(one) for one in clipped],
    }
