"""Scenarios of checkpoint."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.lessons.ch11_checkpointing.scenarios.second_runs import (
    CHANGED_UNNOTICED,
    KEPT_ALL_THE_SAME,
    NOT_USED,
    _alike,
    _by_pass,
    _counted,
    _refuses,
)
from autograder.lessons.ch11_checkpointing.scenarios.tensors import (
    NO_TENSOR,
    Layer,
    _backward,
    _data,
    _gradients,
    _leaf,
    _of_result,
    _parameter,
)
from autograder.worker.returned import plain
from course.instruments.live import LiveStorages, storage_bytes
from course.instruments.out_of_reach import out_of_reach

GRAPH_WITHOUT_GRADIENTS = "Under torch.no_grad() the result has a graph"


@torch.enable_grad()
def of_arguments(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """fn(x, w) = sin(x w) w."""
    x_leaf, w_leaf = _leaf(x), _leaf(w)
    y = plain(submission.checkpoint(lambda x, w: torch.sin(x * w) * w, x_leaf, w_leaf))
    _backward(y, g)
    return {
        **_of_result(y),
        "y": _data(y),
        "dx": _data(x_leaf.grad),
        "dw": _data(w_leaf.grad),
        "x afterwards": _data(x_leaf),
    }


@torch.enable_grad()
def of_parameters(
    submission: Any, x: np.ndarray, W: np.ndarray, b: np.ndarray, g: np.ndarray, wants_x: bool
) -> dict[str, Any]:
    """fn is a layer with parameters; x may require a gradient, or not."""
    layer, x_leaf = Layer(W, b), _leaf(x, wants_x)
    y = plain(submission.checkpoint(layer, x_leaf))
    _backward(y, g)
    return {
        **_of_result(y),
        "x requires a gradient afterwards, which it did not before": x_leaf.requires_grad and not wants_x,
        "y": _data(y),
        "dW": _data(layer.W.grad),
        "db": _data(layer.b.grad),
        "dx": _data(x_leaf.grad),
    }


@torch.enable_grad()
def of_a_graph(
    submission: Any, a: np.ndarray, c: np.ndarray, layers: list[dict[str, Any]], g: np.ndarray
) -> dict[str, Any]:
    """x = a c in the middle of a graph, two checkpoints in sequence, the result squared; two backward passes."""
    a_leaf, c_leaf = _leaf(a), _leaf(c)
    modules = [Layer(**layer) for layer in layers]
    for _ in range(2):
        y = a_leaf * c_leaf
        for module in modules:
            y = plain(submission.checkpoint(module, y))
        _backward(y**2 if isinstance(y, Tensor) else y, g)
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {**_of_result(y), "y": _data(y), "da": _data(a_leaf.grad), "dc": _data(c_leaf.grad), **gradients}


@torch.enable_grad()
def of_mixed_arguments(
    submission: Any,
    given: dict[str, Any],
    g: np.ndarray,
    order: list[str],
    wanted: list[str],
) -> dict[str, Any]:
    """fn(table, ids, mask, shift, power, name) with its arguments in this order: indices, a mask, a number, a string.

    Args:
        given: table, ids, mask, shift and power.
        wanted: those of table and shift that require a gradient.
    """

    def fn(*arguments: Any) -> Tensor:
        of = dict(zip(order, arguments, strict=True))
        assert of["name"] == "relu"
        return torch.where(of["mask"], of["table"][of["ids"]] + of["shift"], 0.0) ** of["power"]

    arguments = {name: torch.tensor(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    arguments |= {name: _leaf(given[name]) for name in wanted} | {"name": "relu"}
    constants = [value for name, value in arguments.items() if isinstance(value, Tensor) and name not in wanted]
    y = plain(submission.checkpoint(fn, *(arguments[name] for name in order)))
    _backward(y, g)
    return {
        **_of_result(y),
        "An argument that requires no gradient requires one afterwards": any(t.requires_grad for t in constants),
        "An argument that requires no gradient has one afterwards": any(t.grad is not None for t in constants),
        "y": _data(y),
        **{f"d{name}": _data(arguments[name].grad) for name in wanted},
    }


@torch.enable_grad()
def of_one_tensor_twice(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """fn(x, x, 3) with fn(u, v, k) = k u² v."""
    leaf = _leaf(x)
    y = plain(submission.checkpoint(lambda u, v, k: k * u**2 * v, leaf, leaf, 3))
    _backward(y, g)
    return {**_of_result(y), "y": _data(y), "dx": _data(leaf.grad)}


@torch.enable_grad()
def with_dropout(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray, seed: int) -> dict[str, Any]:
    """fn is random, and random numbers are drawn before it, between the passes and afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        torch.rand(3)
        leaf, weight = _leaf(x), _parameter(w)
        y = plain(submission.checkpoint(lambda x: F.dropout(torch.sin(x) * weight, 0.5), leaf))
        between = torch.rand(2)
        _backward(y, g)
        after = torch.rand(2)
    return {
        **_of_result(y),
        "y": _data(y),
        "dx": _data(leaf.grad),
        "dw": _data(weight.grad),
        "numbers drawn after the forward pass": _data(between),
        "numbers drawn after the backward pass": _data(after),
    }


@torch.enable_grad()
def calls(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray, factors: np.ndarray) -> dict[str, Any]:
    """How often fn runs in each pass, and the gradient, which differs for each run."""
    leaf = _leaf(x)
    weight = _parameter(w)
    fn, ran = _counted(_by_pass(lambda x: torch.sin(x * weight), *factors[:2]))
    y = plain(submission.checkpoint(fn, leaf))
    _backward(y, g)
    forward, backward = ran()
    return {**_of_result(y), "forward": forward, "backward": backward, "dx": _data(leaf.grad)}


@torch.enable_grad()
def without_gradients(submission: Any, x: np.ndarray, w: np.ndarray) -> dict[str, Any]:
    """Under no_grad."""
    fn, ran = _counted(Layer(w, np.zeros_like(w[0])))
    with torch.no_grad():
        y = plain(submission.checkpoint(fn, _leaf(x)))
        still_off = not torch.is_grad_enabled()
    return {
        NO_TENSOR: not isinstance(y, Tensor),
        GRAPH_WITHOUT_GRADIENTS: isinstance(y, Tensor) and y.requires_grad,
        "checkpoint switched gradients on, and left them on": not still_off,
        "y": _data(y),
        "calls": sum(ran()),
    }


@torch.enable_grad()
def kept(submission: Any, x: np.ndarray, W: np.ndarray) -> dict[str, Any]:
    """Bytes of what was made, the result aside, that are alive between the passes."""
    layer, leaf = Layer(W, np.zeros_like(W[0])), _leaf(x)

    def fn(x: Tensor, scale: Tensor) -> Tensor:
        return torch.exp(torch.sin(layer(x) * scale) ** 2)

    scale = torch.tensor(0.5, dtype=leaf.dtype)
    live = LiveStorages()
    with out_of_reach(live):
        y = plain(submission.checkpoint(fn, leaf, scale))
        gc.collect()
        made = live.bytes
    made -= storage_bytes([y] if isinstance(y, Tensor) else [])
    return {**_of_result(y), "y": _data(y), "made": made, "x": leaf.nbytes}


@torch.enable_grad()
def computed_again(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray, factors: np.ndarray) -> dict[str, Any]:
    """The gradients, the run of fn that they come from, and whether as much memory is kept as without a checkpoint."""

    def gradients(first: np.ndarray, second: np.ndarray) -> list[Tensor]:
        leaf, weight = _leaf(x), _parameter(w)
        fn = _by_pass(lambda x: torch.exp(torch.sin(x * weight)), first, second)
        _backward(plain(submission.checkpoint(fn, leaf)), g)
        return _gradients([leaf, weight])

    one, two, three = factors
    here = gradients(one, three)
    return {
        KEPT_ALL_THE_SAME.format("fn computed", "it"): not _alike(here, gradients(two, three)),
        NOT_USED.format("fn"): _alike(here, gradients(one, two)),
        "Between the passes as much is kept as without a checkpoint": _keeps_as_much(submission.checkpoint, x, w),
        "dx": _data(here[0]),
        "dw": _data(here[1]),
    }


def _keeps_as_much(checkpoint: Callable[..., Any], x: np.ndarray, w: np.ndarray) -> bool:
    """Whether as many bytes are alive after a checkpoint of fn as after fn itself."""
    leaf, weight = _leaf(np.tile(x, 4096)), _parameter(np.tile(w, 4096))

    def fn(x: Tensor) -> Tensor:
        return torch.exp(torch.sin(x * weight))

    found = []
    for run in (fn, lambda x: checkpoint(fn, x)):
        live = LiveStorages()
        with out_of_reach(live):
            y = plain(run(leaf))
            gc.collect()
            found.append(live.bytes)
        del y
    return found[1] >= found[0]


@torch.enable_grad()
def changed_in_between(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The gradient, and whether autograd notices that an argument was changed in place between the passes."""
    leaf = _leaf(x)
    _backward(plain(submission.checkpoint(torch.sin, leaf)), g)
    middle = leaf * 1
    y = plain(submission.checkpoint(torch.sin, middle))
    middle.detach().mul_(2)
    return {
        **_of_result(y),
        "dx": _data(leaf.grad),
        CHANGED_UNNOTICED.format("An argument"): not _refuses(lambda: _backward(y, g)),
    }
