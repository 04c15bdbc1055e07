"""Scenarios of reversible_block."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import torch
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
    NO_GRAPH,
    Layer,
    _backward_pass,
    _data,
    _gradients,
    _in_backward,
    _leaf,
)
from autograder.worker.returned import own_functions, plain
from course.instruments.live import LiveStorages, storage_bytes
from course.instruments.out_of_reach import out_of_reach

NO_PAIR = "The result is no tuple of two tensors"


def _block(submission: Any, f: Any, g: Any, x1: Tensor, x2: Tensor) -> tuple[Any, Any]:
    """The pair that the submission returns; (None, None) if the result is not a pair."""
    result = plain(submission.reversible_block(f, g, x1, x2))
    pair = isinstance(result, tuple | list) and len(result) == 2 and all(isinstance(y, Tensor) for y in result)
    return (result[0], result[1]) if pair else (None, None)


def _of_pair(*ys: Any) -> dict[str, bool]:
    there = all(isinstance(y, Tensor) for y in ys)
    return {NO_PAIR: not there, NO_GRAPH: there and not all(y.requires_grad for y in ys)}


def _backward_of_pair(ys: tuple[Any, Any], dys: tuple[Any, Any]) -> None:
    """Run backward from both outputs; an upstream gradient of None means that the output is not used."""
    used = [(y, torch.as_tensor(dy)) for y, dy in zip(ys, dys, strict=True) if y is not None and dy is not None]
    if used and all(y.requires_grad and y.shape == dy.shape for y, dy in used):
        outputs = [plain(y) for y, _ in used]
        with own_functions(), _backward_pass():
            torch.autograd.backward(outputs, [dy for _, dy in used])


@torch.enable_grad()
def reversed_block(
    submission: Any,
    x1: np.ndarray,
    x2: np.ndarray,
    f: dict[str, Any],
    g: dict[str, Any],
    dy1: Any,
    dy2: Any,
    wants: tuple[bool, bool],
) -> dict[str, Any]:
    """Results and all gradients."""
    x1_leaf, x2_leaf = _leaf(x1, wants[0]), _leaf(x2, wants[1])
    F_, G_ = Layer(**f), Layer(**g)
    ys = _block(submission, F_, G_, x1_leaf, x2_leaf)
    values = [_data(y) for y in ys]
    _backward_of_pair(ys, (dy1, dy2))
    if dy2 is None:  # then g makes no difference, and None says so as well
        for parameter in G_.parameters():
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    return {
        **_of_pair(*ys),
        "y1": values[0],
        "y2": values[1],
        "dx1": _data(x1_leaf.grad),
        "dx2": _data(x2_leaf.grad),
        "dW of f": _data(F_.W.grad),
        "dW of g": _data(G_.W.grad),
        "db of g": _data(G_.b.grad),
        "x1 afterwards": _data(x1_leaf),
        "x2 afterwards": _data(x2_leaf),
    }


@torch.enable_grad()
def reversed_stack(
    submission: Any, a: np.ndarray, c: np.ndarray, layers: list[dict[str, Any]], dy1: np.ndarray, dy2: np.ndarray
) -> dict[str, Any]:
    """Blocks in sequence in the middle of a graph: x1 = a c, x2 = sin(a); two backward passes."""
    a_leaf, c_leaf = _leaf(a), _leaf(c)
    modules = [Layer(**layer) for layer in layers]
    for _ in range(2):
        ys: tuple[Any, Any] = a_leaf * c_leaf, torch.sin(a_leaf)
        for f, g in zip(modules[::2], modules[1::2], strict=True):
            if ys[0] is not None:
                ys = _block(submission, f, g, *ys)
        _backward_of_pair(tuple(y if y is None else y**2 for y in ys), (dy1, dy2))  # type: ignore[arg-type]
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {
        **_of_pair(*ys),
        "y1": _data(ys[0]),
        "y2": _data(ys[1]),
        "da": _data(a_leaf.grad),
        "dc": _data(c_leaf.grad),
        **gradients,
    }


@torch.enable_grad()
def kept_of_block(submission: Any, x: np.ndarray, W: np.ndarray) -> dict[str, Any]:
    """Live bytes between the passes, besides y1 and y2, when x1 and x2 have been released."""
    f, g, leaf = Layer(W, np.zeros_like(W[0])), Layer(W, np.zeros_like(W[0])), _leaf(x)
    live = LiveStorages()
    with out_of_reach(live):
        inputs = [leaf * 1, leaf * 2]
        ys = _block(submission, f, g, *inputs)
        inputs.clear()
        gc.collect()
        made = live.bytes
    made -= storage_bytes(y for y in ys if y is not None)
    return {**_of_pair(*ys), "y1": _data(ys[0]), "made": made, "x": leaf.nbytes}


@torch.enable_grad()
def computed_back(
    submission: Any,
    x1: np.ndarray,
    x2: np.ndarray,
    W: np.ndarray,
    dy1: np.ndarray,
    dy2: np.ndarray,
    factors: np.ndarray,
) -> dict[str, Any]:
    """Which runs of f and g the gradients come from, and whether x2 is recomputed, so that g's second run changes it.

    Also the gradients of f's second run at the x2 of g's second run.
    """

    def gradients(first: np.ndarray, second: np.ndarray, shift: float) -> list[Tensor]:
        F_, G_ = (Layer(W, np.zeros_like(W[0])) for _ in range(2))
        f, g = _by_pass(F_, first, second), _by_pass(G_, first, second)
        leaves = [_leaf(x1), _leaf(x2), F_.W, G_.W]
        ys = _block(submission, f, lambda y1: g(y1) + shift * _in_backward(), leaves[0], leaves[1])
        _backward_of_pair(ys, (dy1, dy2))
        return _gradients(leaves)

    one, two, three = factors
    here, moved = gradients(one, three, 0.0), gradients(one, three, 0.5)
    return {
        KEPT_ALL_THE_SAME.format("f and g computed", "them"): not _alike(here, gradients(two, three, 0.0)),
        NOT_USED.format("f and g"): _alike(here, gradients(one, two, 0.0)),
        "x2 was kept: the backward pass is to compute it back, y2 − g(y1)": _alike(here, moved),
        "dx2": _data(moved[1]),
        "dW of f": _data(moved[2]),
    }


@torch.enable_grad()
def calls_of_block(
    submission: Any,
    x1: np.ndarray,
    x2: np.ndarray,
    W: np.ndarray,
    dy1: np.ndarray,
    dy2: np.ndarray,
    factors: np.ndarray,
) -> dict[str, Any]:
    """How often f and g run in each pass, and the gradient of x1, which differs for each run of g."""
    (f, f_ran), (g, g_ran) = (_counted(_by_pass(Layer(W, np.zeros_like(W[0])), *factors[:2])) for _ in range(2))
    x1_leaf, x2_leaf = _leaf(x1), _leaf(x2)
    ys = _block(submission, f, g, x1_leaf, x2_leaf)
    _backward_of_pair(ys, (dy1, dy2))
    of_f, of_g = f_ran(), g_ran()
    return {
        **_of_pair(*ys),
        "forward": {"f": of_f[0], "g": of_g[0]},
        "backward": {"f": of_f[1], "g": of_g[1]},
        "dx1": _data(x1_leaf.grad),
    }


@torch.enable_grad()
def block_changed_in_between(
    submission: Any, x1: np.ndarray, x2: np.ndarray, W: np.ndarray, dy1: np.ndarray, dy2: np.ndarray
) -> dict[str, Any]:
    """Whether autograd notices that y1 or y2 was changed in place between the passes."""
    noticed, ys = {}, (None, None)
    for i, name in enumerate(("y1", "y2")):
        f, g = (Layer(W, np.zeros_like(W[0])) for _ in range(2))
        ys = _block(submission, f, g, _leaf(x1), _leaf(x2))

        def change_and_go_back(ys: Any = ys, i: int = i) -> None:
            Tensor.detach(plain(ys[i])).mul_(2)
            _backward_of_pair(ys, (dy1, dy2))

        noticed[name] = ys[i] is None or _refuses(change_and_go_back)
    unnoticed = {CHANGED_UNNOTICED.format(name): not refused for name, refused in noticed.items()}
    return {**_of_pair(*ys), **unnoticed, "y1": _data(ys[0])}  # it is y2 that was changed last
