"""Scenarios of maml_gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch13_beyond_first_order.scenarios.tensors import (
    _as,
    _Before,
    _data,
    _in_states,
    _requires_grad,
)
from autograder.worker.returned import plain

Params = dict[str, Tensor]


def _regression(params: Params, data: dict[str, Tensor]) -> Tensor:
    return ((data["X"] @ params["w"] + params["b"] - data["y"]) ** 2).mean()


def _network(params: Params, data: dict[str, Tensor]) -> Tensor:
    h = torch.tanh(data["X"] @ params["W1"] + params["b1"])
    return ((h @ params["W2"] - data["y"]) ** 2).mean()


def _some(params: Params, data: dict[str, Tensor]) -> Tensor:
    """Uses the parameters that `data` has a factor for."""
    return sum((torch.sin(params[name] * factor).sum() ** 2 for name, factor in data.items()), torch.tensor(0.0))


def _straight(params: Params, data: dict[str, Tensor]) -> Tensor:
    """A loss whose gradient is the constant `slope` of the data."""
    if "slope" in data:
        return (params["w"] * data["slope"]).sum()
    return (params["w"] ** 3 * data["cubes"]).sum()


def _squares(params: Params, data: dict[str, Tensor]) -> Tensor:
    """Σ (factor · parameter − shift)², or without a shift."""
    shift = data.get("shift", 0.0)
    return sum(((params[name] * data[name] - shift).square().sum() for name in params), torch.tensor(0.0))


LOSSES: dict[str, Callable[[Params, dict[str, Tensor]], Tensor]] = {
    "regression": _regression,
    "network": _network,
    "some": _some,
    "straight": _straight,
    "squares": _squares,
}

Arrays = dict[str, np.ndarray]


def _gradients(result: Any, params: Params) -> dict[str, Any]:
    """A result as a dict of gradients."""
    fits = isinstance(result, dict)
    return {
        "The result is no dict": not fits,
        "The keys of the result are not those of params, in their order": fits and list(result) != list(params),
        **{f"d{name}": _data(result.get(name)) if fits else None for name in params},
    }


@torch.enable_grad()
def maml(
    submission: Any, loss: str, params: Arrays, support: Arrays, query: Arrays, inner_lr: float, kind: str
) -> dict[str, Any]:
    """The gradients of the query loss, for parameters of one kind of tensor."""
    tensors = {name: _as(kind, value) for name, value in params.items()}
    sets = ({name: torch.tensor(value) for name, value in data.items()} for data in (support, query))
    return _gradients(plain(submission.maml_gradient(LOSSES[loss], tensors, *sets, inner_lr)), tensors)


ORIGINS = {
    "all leaves with grads": ["a leaf with a grad"] * 3,
    "all in the middle of a graph": ["in the middle of a graph"] * 3,
    "of three origins": ["a leaf with a grad", "plain", "in the middle of a graph"],
}


@torch.enable_grad()
def maml_in_states(
    submission: Any, params: list[np.ndarray], support: Arrays, query: Arrays, inner_lr: float, states: dict[str, str]
) -> dict[str, Any]:
    """The gradients for three parameters in these states, and side effects."""
    origins, layout = ORIGINS.get(states["params origin"], ["plain"] * 3), states["params layout"]
    tensors = {
        name: _in_states(name, value, {f"{name} layout": layout, f"{name} origin": origin})
        for name, value, origin in zip("abc", params, origins, strict=True)
    }
    before, sets = _Before(**tensors), [{name: torch.tensor(of[name]) for name in of} for of in (support, query)]
    result = plain(submission.maml_gradient(_squares, tensors, *sets, inner_lr))
    return {
        **before.changes(),
        "A result has a graph behind it: it requires a gradient": isinstance(result, dict)
        and _requires_grad(*result.values()),
        **_gradients(result, tensors),
    }


@torch.enable_grad()
def beside_maml(
    submission: Any, params: Arrays, support: Arrays, query: Arrays, inner_lr: float, kind: str
) -> dict[str, Any]:
    """The gradients, side effects, and the arguments of loss_fn.

    Data sets are recognised by their sizes, because torch.func passes copies.
    """
    tensors = {name: _as(kind, value) for name, value in params.items()}
    sets = [{name: torch.tensor(value) for name, value in data.items()} for data in (support, query)]
    scale = torch.ones((), dtype=next(iter(tensors.values())).dtype, requires_grad=True)
    scale.grad = torch.full_like(scale, 7.0)
    before, keys, seen = _Before(**tensors), list(tensors), []

    def loss_fn(params: Params, data: Any) -> Tensor:
        seen.append(next((i for i, known in enumerate(sets) if len(data["X"]) == len(known["X"])), None))
        return scale * LOSSES["network"](params, data)

    held = list(tensors.values())
    result = plain(submission.maml_gradient(loss_fn, tensors, *sets, inner_lr))
    return {
        **before.changes(),
        "The .grad of a parameter that loss_fn uses is another one": scale.grad is None or scale.grad.item() != 7.0,
        "params holds other tensors, or other keys, afterwards: make a new dict": list(tensors) != keys
        or any(tensor is not known for tensor, known in zip(tensors.values(), held, strict=False)),
        "A result has a graph behind it: it requires a gradient": isinstance(result, dict)
        and _requires_grad(*result.values()),
        "loss_fn is not called twice, with support and then with query": seen != [0, 1],
        **_gradients(result, before.tensors),
    }
