"""Scenarios of checkpoint_sequential."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.lessons.ch11_checkpointing.scenarios.second_runs import (
    KEPT_ALL_THE_SAME,
    NOT_USED,
    Function,
    _alike,
    _by_pass,
)
from autograder.lessons.ch11_checkpointing.scenarios.tensors import (
    Layer,
    _backward,
    _data,
    _gradients,
    _in_backward,
    _leaf,
    _of_result,
)
from autograder.worker.returned import plain
from course.instruments.live import LiveStorages, storage_bytes
from course.instruments.out_of_reach import out_of_reach


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
        y = plain(submission.checkpoint_sequential(given, leaf, segments))
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
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int, g: np.ndarray, factors: np.ndarray
) -> dict[str, Any]:
    """The layers in the order of calls in each pass, and gradients, which differ for each run of a layer."""
    forward: list[int] = []
    backward: list[int] = []

    def noting(number: int, run: Function) -> Function:
        def noted(x: Tensor) -> Tensor:
            (backward if _in_backward() else forward).append(number)
            return run(x)

        return noted

    modules = [Layer(**layer) for layer in layers]
    runs = [noting(i, _by_pass(module, *factors[:2])) for i, module in enumerate(modules)]
    y = plain(submission.checkpoint_sequential([_Running(run) for run in runs], _leaf(x), segments))
    _backward(y, g)
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {**_of_result(y), "y": _data(y), "forward": list(forward), "backward": list(backward), **gradients}


@torch.enable_grad()
def kept_by_segments(submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int) -> dict[str, Any]:
    """Bytes of what was made, the result aside, that are alive between the passes."""
    modules, leaf = [Layer(**layer) for layer in layers], _leaf(x)
    live = LiveStorages()
    with out_of_reach(live):
        y = plain(submission.checkpoint_sequential(modules, leaf, segments))
        gc.collect()
        made = live.bytes
    made -= storage_bytes([y] if isinstance(y, Tensor) else [])
    return {**_of_result(y), "y": _data(y), "made": made, "x": leaf.nbytes}


@torch.enable_grad()
def segments_computed_again(
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int, g: np.ndarray, factors: np.ndarray
) -> dict[str, Any]:
    """The gradients of the first half of the layers, and the runs that they come from."""

    def gradients(first: np.ndarray, second: np.ndarray) -> list[Tensor]:
        modules = [Layer(**layer) for layer in layers]
        half = len(modules) // 2
        steered = [_Running(_by_pass(module, first, second)) for module in modules[:half]]
        y = plain(submission.checkpoint_sequential([*steered, *modules[half:]], _leaf(x), segments))
        _backward(y, g)
        return _gradients(module.W for module in modules)

    one, two, three = factors
    here = gradients(one, three)
    return {
        KEPT_ALL_THE_SAME.format("the first layers computed", "them"): not _alike(here, gradients(two, three)),
        NOT_USED.format("the layers"): _alike(here, gradients(one, two)),
        **{f"dW of layer {i}": _data(of) for i, of in enumerate(here[: len(layers) // 2], start=1)},
    }


class _Running(nn.Module):
    """A module that runs a function."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)
