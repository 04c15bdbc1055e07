"""Chains of given layers, and the state that a submission's function must not change.

Scenarios return data, mostly dicts. The key of a bool is the sentence that a learner is told if it is True. Each
scenario runs with gradients switched on, whatever a cell of the submission has set. It seeds the generator from which
the submission draws, so that a check always gets the same network.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

ACTIVATIONS = {"sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
GRADIENTS_OFF = "Gradients were switched off, and still are for all that follows"


def _linear(layer: dict[str, np.ndarray]) -> torch.nn.Linear:
    """A linear layer with the weights W (out, in) and the bias b (out,)."""
    W, b = torch.tensor(layer["W"]), torch.tensor(layer["b"])
    linear = torch.nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    with torch.no_grad():
        linear.weight.copy_(W)
        linear.bias.copy_(b)
    return linear


def _chain(layers: Sequence[dict], activation: str) -> torch.nn.Sequential:
    """Linear layers with an activation after each but the last."""
    modules: list[torch.nn.Module] = []
    for layer in layers:
        modules += [_linear(layer), ACTIVATIONS[activation]()]
    return torch.nn.Sequential(*modules[:-1])


def _with_batchnorm(layers: Sequence[dict], activation: str = "relu") -> torch.nn.Sequential:
    """A chain with BatchNorm before each activation; its running statistics differ from the batch's."""
    first, last = map(_linear, layers)
    norm = torch.nn.BatchNorm1d(first.out_features, dtype=first.weight.dtype)
    for statistic, value in ((norm.running_mean, 0.4), (norm.running_var, 3.0)):
        assert statistic is not None
        statistic.fill_(value)
    return torch.nn.Sequential(first, norm, ACTIVATIONS[activation](), last)


def _state(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Copies of the parameters."""
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def _changes(model: torch.nn.Module, before: dict[str, torch.Tensor], training: bool) -> dict[str, bool]:
    """Sentences about changes since `_prepare`, which gave every other parameter a gradient of 0.5, the others None."""
    parameters = dict(model.named_parameters())
    with_grad = list(parameters)[::2]
    grads_kept = all(
        (parameter.grad is not None and bool((parameter.grad == 0.5).all()))
        if name in with_grad
        else parameter.grad is None
        for name, parameter in parameters.items()
    )
    return {
        "The model's parameters have another dtype afterwards; .double() converts the caller's model": any(
            parameters[name].dtype != value.dtype for name, value in before.items()
        ),
        "The values of parameters changed": any(
            not torch.equal(parameters[name].detach().double(), value.double()) for name, value in before.items()
        ),
        "A parameter's .grad is not what it was before the call: the caller may be adding up gradients there": (
            not grads_kept
        ),
        "requires_grad of a parameter changed": not all(p.requires_grad for p in parameters.values()),
        f"The model is in {'eval' if training else 'train'} mode afterwards, and it was not": any(
            module.training is not training for module in model.modules()
        ),
        GRADIENTS_OFF: not torch.is_grad_enabled(),
    }


def _prepare(model: torch.nn.Module, training: bool) -> dict[str, torch.Tensor]:
    """Set the model's mode, give every other parameter a gradient, and return copies of the parameters."""
    model.train(training)
    for parameter in list(model.parameters())[::2]:
        parameter.grad = torch.full_like(parameter, 0.5)
    return _state(model)
