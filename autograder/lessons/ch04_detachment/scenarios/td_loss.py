"""Scenarios of td_loss."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch04_detachment.scenarios.steps import GRADIENTS_OFF, _backward, _data
from autograder.worker.returned import plain


def _linear(layer: dict[str, np.ndarray]) -> torch.nn.Linear:
    """A linear network with the weights W (actions, d) and b (actions,)."""
    W, b = torch.tensor(layer["W"]), torch.tensor(layer["b"])
    network = torch.nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    with torch.no_grad():
        network.weight.copy_(W)
        network.bias.copy_(b)
    return network


def _tensors(batch: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(array) for name, array in batch.items()}


def _td_loss(submission: Any, *arguments: Any) -> Any:
    """The loss; PyTorch's error about using `max(dim)`, which also returns indices, gets a plain explanation."""
    try:
        return plain(submission.td_loss(*arguments))
    except (AttributeError, TypeError) as error:
        if re.search(r"return_types|multiply sequence|to an index|not tuple", str(error)):
            error.args = (f"{error}. Is it max(dim=1)? It gives (values, indices): take .values",)
        raise


def _wrong_kinds(loss: Any) -> dict[str, bool]:
    """Sentences for results that are not tensors."""
    number, tensor = isinstance(loss, int | float | np.generic), isinstance(loss, torch.Tensor)
    return {
        "td_loss returned a Python float; return the 0-d tensor, it carries the graph": number,
        "td_loss returned no tensor; the loss is a 0-d tensor": not number and not tensor,
    }


def _has_no_graph(loss: Any) -> bool:
    return not isinstance(loss, torch.Tensor) or loss.grad_fn is None


def _td_backward(loss: Any, *networks: torch.nn.Module) -> None:
    """Run backward unless td_loss did."""
    if all(parameter.grad is None for network in networks for parameter in network.parameters()):
        _backward(loss)


@torch.enable_grad()
def two_networks(submission: Any, q_net: dict, target_net: dict, batch: dict, gamma: float) -> dict[str, Any]:
    """The loss, and the gradients of q_net = s Wᵀ + b."""
    q, target = _linear(q_net), _linear(target_net)
    loss = _td_loss(submission, q, target, _tensors(batch), gamma)
    _td_backward(loss, q, target)
    return {**_wrong_kinds(loss), "loss": _data(loss), "dW": _data(q.weight.grad), "db": _data(q.bias.grad)}


@torch.enable_grad()
def one_network(submission: Any, q_net: dict, batch: dict, gamma: float) -> dict[str, Any]:
    """Like `two_networks`, with q_net also as target_net."""
    q = _linear(q_net)
    loss = _td_loss(submission, q, q, _tensors(batch), gamma)
    _td_backward(loss, q)
    return {**_wrong_kinds(loss), "loss": _data(loss), "dW": _data(q.weight.grad), "db": _data(q.bias.grad)}


@torch.enable_grad()
def flow_into_the_networks(submission: Any, q_net: dict, target_net: dict, batch: dict, gamma: float) -> dict[str, Any]:
    """Which network has gradients after backward, and the gradients of q_net."""
    q, target = _linear(q_net), _linear(target_net)
    loss = _td_loss(submission, q, target, _tensors(batch), gamma)
    bare = _has_no_graph(loss)
    _td_backward(loss, q, target)
    return {
        **_wrong_kinds(loss),
        "The loss has no graph to go back through": bare,
        "q_net has no gradient after backward": q.weight.grad is None or q.bias.grad is None,
        "dW": _data(q.weight.grad),
        "db": _data(q.bias.grad),
        "target_net.weight.grad": _data(target.weight.grad),
        "target_net.bias.grad": _data(target.bias.grad),
    }


@torch.enable_grad()
def afterwards(
    submission: Any, q_net: dict, target_net: dict, batch: dict, gamma: float, frozen: list[str], evaluated: bool
) -> dict[str, Any]:
    """Side effects of td_loss, before any call to backward.

    Args:
        frozen: names of the parameters that require no gradient.
        evaluated: whether the networks are in eval mode.
    """
    tensors = _tensors(batch)
    networks = {"q_net": _linear(q_net), "target_net": _linear(target_net)}
    for name, network in networks.items():
        network.train(not evaluated)
        for part, parameter in network.named_parameters():
            parameter.requires_grad_(f"{name}.{part}" not in frozen)
    loss = _td_loss(submission, *networks.values(), tensors, gamma)
    left: dict[str, Any] = {**_wrong_kinds(loss), "The loss has no graph to go back through": _has_no_graph(loss)}
    left |= {f"batch[{name}]": _data(tensor) for name, tensor in tensors.items()}
    for name, network in networks.items():
        left[f"{name} was switched to {'train' if evaluated else 'eval'} mode"] = network.training is evaluated
        for part, parameter in network.named_parameters():
            wanted = f"{name}.{part}" not in frozen
            told = f"requires_grad of {name}.{part} was {wanted}, and is {not wanted} afterwards"
            left[told] = parameter.requires_grad is not wanted
            left[f"{name}.{part}"] = _data(parameter)
            left[f"{name}.{part}.grad"] = _data(parameter.grad)
    left[GRADIENTS_OFF] = not torch.is_grad_enabled()
    return left
