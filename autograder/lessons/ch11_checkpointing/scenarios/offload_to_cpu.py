"""Scenarios of offload_to_cpu."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch11_checkpointing.scenarios.second_runs import _no_hooks_left
from autograder.lessons.ch11_checkpointing.scenarios.tensors import Layer, _backward, _data, _leaf, _parameter
from course.instruments.live import LiveStorages
from course.instruments.out_of_reach import out_of_reach


@_no_hooks_left()
@torch.enable_grad()
def offloaded(
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], g: np.ndarray, backward_inside: bool
) -> dict[str, Any]:
    """The result of layers on x, and all gradients."""
    modules, leaf = [Layer(**layer) for layer in layers], _leaf(x)
    with submission.offload_to_cpu():
        y = leaf
        for module in modules:
            y = module(torch.sin(y) * y)
        if backward_inside:
            _backward(y, g)
    if not backward_inside:
        _backward(y, g)
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {"y": _data(y), "dx": _data(leaf.grad), **gradients}


@_no_hooks_left()
@torch.enable_grad()
def kinds_of_saved_tensors(
    submission: Any, x: np.ndarray, ids: np.ndarray, mask: np.ndarray, g: np.ndarray
) -> dict[str, Any]:
    """Indices, a mask, views and another precision are saved."""
    leaf = _leaf(x)
    with submission.offload_to_cpu():
        rows = leaf.gather(1, torch.tensor(ids))
        y = torch.where(torch.tensor(mask), rows, rows**2)
        y = y.T @ y * y[:1, :1].expand(y.shape[1], y.shape[1])
        y = (y.float() ** 2).double()
    _backward(y, g)
    return {"y": _data(y), "dx": _data(leaf.grad)}


@_no_hooks_left()
@torch.enable_grad()
def changed_later(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """h = 2 x, y = h sin(h); h is overwritten before the backward pass."""
    leaf = _leaf(x)
    h = leaf * 2
    with submission.offload_to_cpu():
        y = h * torch.sin(h)
    h.detach().fill_(0)
    _backward(y, g)
    return {"y": _data(y), "dx, where h = 2 x was overwritten after y = h sin(h)": _data(leaf.grad)}


@_no_hooks_left()
@torch.enable_grad()
def originals(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """Whether saved tensors are alive after the block; the gradient."""
    leaf = _leaf(x)
    with submission.offload_to_cpu():
        h = torch.exp(leaf)
        y = torch.sin(h)
        storage = weakref.ref(h.untyped_storage())
        del h
        gc.collect()
    alive = storage() is not None
    _backward(y, g)
    return {
        "The original of a saved tensor is still in memory after the block: no copy was made, or something holds the "
        "original as well": alive,
        "dx": _data(leaf.grad),
    }


@_no_hooks_left()
@torch.enable_grad()
def parameters_stay(submission: Any, x: np.ndarray, W: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """Whether a large parameter is copied, directly or transposed."""
    found: dict[str, Any] = {}
    for sentence, transposed in [
        ("A parameter was copied. It is on the device anyway: leave it", False),
        ("A view of a parameter, its transpose, was copied. It is the parameter's own memory: leave it", True),
    ]:
        weight, leaf = _parameter(W.T.copy() if transposed else W), _leaf(x)
        live = LiveStorages()
        with out_of_reach(live), submission.offload_to_cpu():
            y = torch.sin(leaf @ (weight.T if transposed else weight))
            gc.collect()
            made = live.bytes
        _backward(y, g)
        found |= {sentence: made >= W.nbytes, "y": _data(y), "dx": _data(leaf.grad)}
    return found


@_no_hooks_left()
@torch.enable_grad()
def after_the_block(submission: Any, x: np.ndarray, g: np.ndarray, how: str) -> dict[str, Any]:
    """Whether saved tensors are copied, inside and after a block that ends, raises or contains another one.

    Also the gradient of what was computed in the block.
    """
    leaf = _leaf(x)
    inside: list[bool] = []
    came_out = how != "raises"
    try:
        with submission.offload_to_cpu():
            y = torch.sin(leaf * 2)
            inside.append(_copies(leaf))
            if how == "raises":
                raise KeyError("the block's own")
            if how == "nested":
                with submission.offload_to_cpu():
                    inside.append(_copies(leaf))
                inside.append(_copies(leaf))
    except KeyError:
        came_out = True
    after = _copies(leaf)
    _backward(y, g)
    return {
        "dx": _data(leaf.grad),
        "What is saved inside of the block is no copy": not all(inside),
        "What is saved after the block is still copied: the hooks were not removed": after,
        "An exception of the block did not come out of it": not came_out,
    }


def _copies(x: Tensor) -> bool:
    """Whether autograd now saves copies."""
    h = x * 2
    saved = torch.sin(h).grad_fn._saved_self  # type: ignore[union-attr]
    return saved.data_ptr() != h.data_ptr()


class Elsewhere(Tensor):
    """A tensor that reports the device `meta` but has data, which can be copied to the CPU."""

    numbers: Any

    @staticmethod
    def __new__(cls, inner: Tensor) -> Elsewhere:
        made: Elsewhere = Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=torch.device("meta")
        )
        made.numbers = inner
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        device = torch.device(kwargs.get("device") or "meta")
        inner = {**kwargs, "device": "cpu"} if "device" in kwargs else kwargs
        out = func(*torch.utils._pytree.tree_map(_inner, args), **inner)
        stays = device.type == "meta" and func is not torch.ops.aten.copy_.default
        return cls(out) if stays and isinstance(out, Tensor) else out


def _inner(value: Any) -> Any:
    return value.numbers if isinstance(value, Elsewhere) else value


class _Look(torch.autograd.Function):
    """Identity that records the device of a saved tensor in the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, saved: Tensor, seen: list[Any]) -> Tensor:
        ctx.save_for_backward(saved)
        ctx.seen = seen
        return x * 1

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        ctx.seen += ctx.saved_tensors
        return gs[0], None, None


@_no_hooks_left()
@torch.enable_grad()
def from_another_device(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The devices to which saved tensors return, of one from another device and one from the CPU."""
    leaf, seen = _leaf(x), []  # type: ignore[var-annotated]
    there = Elsewhere(torch.tensor(x, dtype=torch.float32))
    with submission.offload_to_cpu():
        y = _Look.apply(_Look.apply(leaf, there, seen), torch.tensor(x), seen)
    _backward(y, g)
    here, back = seen if len(seen) == 2 else (None, None)
    return {
        "A tensor that was saved on another device does not come back to it: remember tensor.device": not (
            isinstance(back, Tensor) and back.device.type == "meta" and back.dtype == torch.float32
        ),
        "A tensor that was saved on the CPU does not come back to it": not (
            isinstance(here, Tensor) and here.device.type == "cpu"
        ),
        "dx": _data(leaf.grad),
    }
