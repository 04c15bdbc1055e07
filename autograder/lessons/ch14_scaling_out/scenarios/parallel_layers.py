"""Scenarios of layers that are split across ranks, with counted messages."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.lessons.ch14_scaling_out.scenarios.ranks import (
    _data,
    _of_ranks,
    _of_ranks_with_sentences,
    _requires_grad,
    _shown,
    _side_by_side,
    _tensor,
    _Weighing,
)
from autograder.worker.layout import laid_out
from autograder.worker.returned import backward, plain
from course.instruments.live import LiveStorages, storage_bytes, storage_of
from course.instruments.out_of_reach import out_of_reach
from course.process_groups import Call, Group

_detach = Tensor.detach


def _told(calls: list[Call]) -> str:
    """Collectives in words."""
    return ", ".join(f"{call.name} of {call.shape}" for call in calls) or "nothing"


def _whole(array: np.ndarray | None) -> Tensor | None:
    return None if array is None else torch.tensor(array)


def _part(array: np.ndarray, group: Group) -> Tensor:
    """This rank's part of the last axis."""
    return torch.tensor(np.split(array, group.size, axis=-1)[group.rank])


def _layer(submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, group: Group) -> tuple[Any, list[Any]]:
    """A layer, and the tensors from which it was made."""
    made_from = [_whole(W), _whole(b)]
    return _checked(getattr(submission, name)(*made_from, _shown(group)), name), made_from


def _checked(layer: Any, name: str) -> Any:
    """The layer. Raises `TypeError` if it is no module."""
    if not isinstance(layer, nn.Module) or "_parameters" not in vars(layer):
        raise TypeError(f"{name} is no torch.nn.Module, or its __init__ does not begin with super().__init__()")
    return layer


@torch.enable_grad()
def parallel_layer(
    submission: Any,
    name: str,
    W: np.ndarray,
    b: np.ndarray | None,
    x: np.ndarray,
    g: np.ndarray,
    size: int,
    in_the_middle: bool,
    beside: bool,
) -> dict[str, Any]:
    """A layer's result and all gradients on every rank; optionally, x is the sine of a leaf and y goes into a sine.

    Or x also goes into a cosine beside the layer, whose gradient must not be summed over ranks.
    """
    around = torch.sin if in_the_middle else lambda tensor: tensor

    def step(group: Group) -> dict[str, Any]:
        layer, _ = _layer(submission, name, W, b, group)
        leaf, upstream = _given(name, x, g, group)
        given = around(leaf)
        y = plain(layer(given))
        found = {"y": _data(y), "dx": None, "layer.weight.grad": None, "layer.bias.grad": None}
        if _requires_grad(y) and y.shape == upstream.shape:
            loss = (around(y) * upstream).sum()
            backward(loss + torch.cos(given).sum() if beside else loss)
            found |= {"dx": _data(leaf.grad), "layer.weight.grad": _data(layer.weight.grad)}
            found["layer.bias.grad"] = None if layer.bias is None else _data(layer.bias.grad)
        return found

    return _of_ranks(_side_by_side(step, size))


@torch.enable_grad()
def layer_in_states(
    submission: Any,
    name: str,
    W: np.ndarray,
    b: np.ndarray,
    x: np.ndarray,
    g: np.ndarray,
    size: int,
    states: dict[str, str],
) -> dict[str, Any]:
    """A layer's result and all gradients on every rank, of a layer and of tensors in these states."""
    of_module, twice = states["layer source"] != "plain", states["layer calls"] != "plain"

    def step(group: Group) -> dict[str, Any]:
        made_from = [_tensor(array, states[f"{letter} layout"]) for letter, array in (("W", W), ("b", b))]
        made_from = [nn.Parameter(one) for one in made_from] if of_module else made_from
        layer = _checked(getattr(submission, name)(*made_from, _shown(group)), name)
        for parameter in layer.parameters() if states["layer grads"] == "with grads" else ():
            parameter.grad = torch.full_like(parameter, 0.5)
        leaf, upstream = _given(name, x, g, group)
        leaf = laid_out(leaf.detach(), states["x layout"]).requires_grad_()
        upstream = laid_out(upstream, states["g layout"])
        results = [plain(layer(leaf))]
        results += [plain(layer(2 * leaf))] if twice else []
        for y in results:
            if _requires_grad(y) and y.shape == upstream.shape:
                backward(y, upstream)
        return {
            "The weight or the bias that the layer was made from has a gradient afterwards": any(
                one.grad is not None for one in made_from if one.is_leaf
            ),
            **{f"y{' of the second call' * i}": _data(y) for i, y in enumerate(results)},
            "dx": _data(leaf.grad),
            "layer.weight.grad": _data(layer.weight.grad),
            "layer.bias.grad": _data(layer.bias.grad),
        }

    return _of_ranks_with_sentences(_side_by_side(step, size))


def _given(name: str, x: np.ndarray, g: np.ndarray, group: Group) -> tuple[Tensor, Tensor]:
    """A rank's x, a leaf, and its upstream gradient; the layer's name decides which of them is split."""
    whole = name == "ColumnParallelLinear"
    x_, g_ = (torch.tensor(x), _part(g, group)) if whole else (_part(x, group), torch.tensor(g))
    return x_.requires_grad_(), g_


@torch.enable_grad()
def values_of_layer(
    submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, x: np.ndarray, size: int
) -> dict[str, Any]:
    """The result of a layer on every rank, with gradients and without."""

    def step(group: Group) -> dict[str, Any]:
        layer, _ = _layer(submission, name, W, b, group)
        leaf, _ = _given(name, x, x, group)
        with torch.no_grad():
            without = plain(layer(leaf))
        return {"y": _data(layer(leaf)), "y under torch.no_grad()": _data(without)}

    return _of_ranks(_side_by_side(step, size))


def _parameters(layer: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A layer's parameters by name; its attributes `weight` and `bias` come first, wherever they are registered."""
    registered = dict(layer.named_parameters())
    found: dict[str, torch.Tensor] = {}
    for name in ("weight", "bias"):
        own: Any = getattr(layer, name, None)
        if any(own is parameter for parameter in registered.values()):
            found[name] = own
    others = {name: one for name, one in registered.items() if not any(one is mine for mine in found.values())}
    return {**found, **others}


SHARED = "A parameter shares memory with the weight or the bias that the layer is made from: clone the part"
WHOLE = "A parameter looks into memory of more than its own entries, as a view of the whole does: clone the part"


KEPT = "Beside its parameters the layer keeps more of the weight than its part: a rank has room for the part only"


@torch.enable_grad()
def parts_of_layer(submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, size: int) -> dict[str, Any]:
    """The parameters that each rank keeps, and whether it keeps as much again."""

    def step(group: Group) -> tuple[dict[str, bool], dict[str, Any]]:
        live = LiveStorages()
        with out_of_reach(live):
            layer, made_from = _layer(submission, name, W, b, group)
        parameters = plain(_parameters(layer))
        storages = {storage_of(of)._cdata: storage_bytes([of]) for of in parameters.values()}
        given = {storage_of(of)._cdata for of in made_from if of is not None}
        del made_from  # our own hold on the whole weight
        room = sum(storages.values()) + W.nbytes // size
        if live.bytes > room:
            gc.collect()
        sentences = {
            KEPT: not given & storages.keys() and live.bytes > room,
            SHARED: bool(given & storages.keys()),
            WHOLE: sum(storages.values()) > sum(of.nbytes for of in parameters.values()),
        }
        values = {
            "names of the parameters": ", ".join(sorted(parameters)),
            "layer.weight": _data(parameters.get("weight")),
            "layer.bias": _data(parameters.get("bias")),
        }
        return sentences, values

    found = _side_by_side(step, size)
    sentences = {key: any(of[key] for of, _ in found) for key in found[0][0]}
    return {**sentences, **_of_ranks([values for _, values in found])}


@torch.enable_grad()
def layer_of_data(
    submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, x: np.ndarray, g: np.ndarray, size: int
) -> dict[str, Any]:
    """The gradients of the parameters if x requires no gradient, as for the input of a network."""

    def step(group: Group) -> dict[str, Any]:
        layer, _ = _layer(submission, name, W, b, group)
        leaf, upstream = _given(name, x, g, group)
        y = plain(layer(_detach(leaf)))
        if _requires_grad(y) and y.shape == upstream.shape:
            backward(y, upstream)
        return {"y": _data(y), "layer.weight.grad": _data(layer.weight.grad)}

    return _of_ranks(_side_by_side(step, size))


@torch.enable_grad()
def uneven_layer(submission: Any, name: str, W: np.ndarray, b: np.ndarray, size: int) -> None:
    """A layer that cannot be split evenly."""

    def step(group: Group) -> None:
        _layer(submission, name, W, b, group)

    _side_by_side(step, size)


NO_COPY = (
    "A step on the parameters changes the weight or the bias that the layer was made from: clone both (.contiguous() "
)
NO_COPY += "copies nothing that is contiguous already)"
CHANGED = "x, or the gradient that arrives, is another one afterwards: reduce a clone of it"


@torch.enable_grad()
def sent_by_layer(
    submission: Any,
    name: str,
    W: np.ndarray,
    b: np.ndarray | None,
    x: np.ndarray,
    g: np.ndarray,
    size: int,
    seed: int | None,
) -> dict[str, Any]:
    """The collectives of each direction, what came of them, and changes of the arguments.

    With a seed, what is sent is multiplied by drawn numbers.
    """

    def step(of_threads: Group) -> tuple[dict[str, bool], dict[str, Any]]:
        group = of_threads if seed is None else _Weighing(of_threads, seed)
        layer, made_from = _layer(submission, name, W, b, group)
        leaf, upstream = _given(name, x, g, group)
        middle = leaf * 1
        names = "weight", "bias", "x", "the gradient"
        given = {what: one for what, one in zip(names, (*made_from, middle, upstream), strict=True) if one is not None}
        used = plain(given)
        before = {what: _detach(tensor).clone() for what, tensor in used.items()}
        made = len(group.calls)
        y = plain(layer(middle))
        passed = len(group.calls)
        if _requires_grad(y) and y.shape == upstream.shape:
            backward(y, upstream)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter += 1
        others = {what: not torch.equal(used[what], before[what]) for what in used}
        values = {
            "sent to make the layer": _told(group.calls[:made]),
            "sent forward": _told(group.calls[made:passed]),
            "sent backward": _told(group.calls[passed:]),
            "y": _data(y),
            "dx": _data(leaf.grad),
        }
        no_copy = others["weight"] or others.get("bias", False)
        return {NO_COPY: no_copy, CHANGED: others["x"] or others["the gradient"]}, values

    found = _side_by_side(step, size)
    sentences = {key: any(of[key] for of, _ in found) for key in found[0][0]}
    return {**sentences, **_of_ranks([values for _, values in found])}
