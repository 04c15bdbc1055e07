"""Scenarios of td_loss."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch04_detachment.scenarios.modules import _equal, _in_states, _state_of
from autograder.lessons.ch04_detachment.scenarios.steps import GRADIENTS_OFF, _backward, _data
from autograder.worker.layout import laid_out
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
def td_loss_in_states(
    submission: Any,
    q_net: list,
    target_net: list,
    batch: list,
    actions: np.ndarray,
    dones: np.ndarray,
    gamma: float,
    states: dict[str, str],
) -> dict[str, Any]:
    """The loss and the gradients of networks and a batch in these states; then what should be as it was before."""
    networks = {"q_net": _laid_out_linear(q_net, states["q_net layout"])}
    twice = states["same object"] == "twice"
    networks |= {} if twice else {"target_net": _laid_out_linear(target_net, states["target_net layout"])}
    for name, network in networks.items():
        _in_states(network, name, states)
    grads = states["transitions grads"] != "plain"
    floats = {
        name: laid_out(torch.tensor(np.array(array)), states["batch layout"]).requires_grad_(grads and "states" in name)
        for name, array in zip(("states", "next_states", "rewards"), batch, strict=True)
    }
    tensors = {**floats, "actions": torch.tensor(actions), "dones": torch.tensor(dones)}
    given = {name: _data(tensor) for name, tensor in tensors.items()}
    before = {name: _state_of(network, name) | _parameters_of(network, name) for name, network in networks.items()}
    q = networks["q_net"]
    loss = _td_loss(submission, q, networks.get("target_net", q), tensors, gamma)
    left: dict[str, Any] = _wrong_kinds(loss)
    for name, network in networks.items():
        after = _state_of(network, name) | _parameters_of(network, name)
        for what, value in before[name].items():
            left[f"{what} is another after td_loss"] = not _equal(after.get(what), value)
    for name, tensor in tensors.items():
        left[f"batch[{name}] is another after td_loss"] = not np.array_equal(_data(tensor), given[name])
        flow = isinstance(tensor.grad, torch.Tensor) or tensor.requires_grad is not (grads and "states" in name)
        left[f"batch[{name}] has a gradient, or another requires_grad, after td_loss"] = flow
    left["the loss requires a gradient"] = "yes" if isinstance(loss, torch.Tensor) and loss.requires_grad else "no"
    _backward(loss)
    left["loss"] = _data(loss)
    for name, network in networks.items():
        left |= {f"{name}.{of}.grad": _data(parameter.grad) for of, parameter in network.named_parameters()}
    left["a gradient flows through y into batch[next_states]"] = floats["next_states"].grad is not None
    return left


def _laid_out_linear(arrays: list, layout: str) -> torch.nn.Linear:
    """A linear network whose parameters lie in memory in this way."""
    network = _linear(dict(zip("Wb", arrays, strict=True)))
    for name, parameter in list(network.named_parameters()):
        network.register_parameter(name, torch.nn.Parameter(laid_out(parameter.detach(), layout)))
    return network


def _parameters_of(network: torch.nn.Module, name: str) -> dict[str, Any]:
    return {f"{name}.{of}": _data(parameter) for of, parameter in network.named_parameters()}


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
