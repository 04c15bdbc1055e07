"""Scenarios of checkpoint_sequential."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch11_checkpointing.scenarios.second_runs import KEPT_ALL_THE_SAME, NOT_USED, _alike, _sloped
from autograder.lessons.ch11_checkpointing.scenarios.tensors import (
    Layer,
    _backward,
    _data,
    _gradients,
    _leaf,
    _of_result,
)
from course.instruments.live import LiveStorages, storage_bytes


@torch.enable_grad()
def in_segments(
    submission: Any,
    x: np.ndarray,
    layers: list[dict[str, Any]],
    segments: int,
    g: np.ndarray,
    wants_x: bool,
    dropout: float,
    seed: int,
) -> dict[str, Any]:
    """The result and all gradients."""
    modules, leaf = [Layer(**layer, dropout=dropout) for layer in layers], _leaf(x, wants_x)
    given = list(modules)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        y = submission.checkpoint_sequential(given, leaf, segments)
        torch.rand(2)
        _backward(y, g)
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {
        **_of_result(y),
        "checkpoint_sequential changed the list of layers": given != modules,
        "y": _data(y),
        "dx": _data(leaf.grad),
        **gradients,
    }


@torch.enable_grad()
def order_of_calls(
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int, g: np.ndarray
) -> dict[str, Any]:
    """The numbers of the layers as they are called in each pass."""
    log: list[int] = []
    modules = [Layer(**layer, number=i, log=log) for i, layer in enumerate(layers)]
    y = submission.checkpoint_sequential(modules, _leaf(x), segments)
    n = len(log)
    _backward(y, g)
    return {**_of_result(y), "y": _data(y), "forward": log[:n], "backward": log[n:]}


@torch.enable_grad()
def kept_by_segments(submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int) -> dict[str, Any]:
    """Bytes of what was made, the result aside, that are alive between the passes."""
    modules, leaf = [Layer(**layer) for layer in layers], _leaf(x)
    with LiveStorages() as live:
        y = submission.checkpoint_sequential(modules, leaf, segments)
        gc.collect()
        made = live.bytes
    made -= storage_bytes([y] if isinstance(y, Tensor) else [])
    return {**_of_result(y), "y": _data(y), "made": made, "x": leaf.nbytes}


@torch.enable_grad()
def segments_computed_again(
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int, g: np.ndarray, slopes: list[float]
) -> dict[str, Any]:
    """Which runs of the first half of the layers the gradients come from."""

    def gradients(first: float, second: float) -> list[Tensor]:
        modules = [_SteeredLayer(**layer) for layer in layers]
        half = modules[: len(modules) // 2]
        for module in half:
            module.slope = first
        y = submission.checkpoint_sequential(list(modules), _leaf(x), segments)
        for module in half:
            module.slope = second
        _backward(y, g)
        return _gradients(module.W for module in modules)

    one, two, three = slopes
    here = gradients(one, three)
    return {
        KEPT_ALL_THE_SAME.format("the first layers computed", "them"): not _alike(here, gradients(two, three)),
        NOT_USED.format("the layers"): _alike(here, gradients(one, two)),
    }


class _SteeredLayer(Layer):
    """A layer whose gradient is multiplied by `slope`, as it is when the layer runs."""

    slope = 1.0

    def forward(self, x: Tensor) -> Tensor:
        return _sloped(super().forward(x), self.slope)
