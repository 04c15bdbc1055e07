"""Scenarios of Square, GELU, GELUTanh, ISRU and RoundSTE, and in part of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch08_custom_functions.scenarios.applied import (
    ATTRIBUTE,
    NO_GRAPH,
    RECORDED_AGAIN,
    _applied,
    _class,
    _data,
    _first,
    _has_attributes,
    _laid,
    _leaf,
    _of_a_function,
    _of_apply,
    _of_class,
    _saved,
    _second,
    _still_alive,
    _watched,
)
from autograder.worker.returned import own_functions
from course.instruments.live import LiveStorages, storage_bytes
from course.instruments.out_of_reach import out_of_reach

_gradcheck, _gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck


@_watched
def once(submission: Any, function: str, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The result and the gradient; x and g afterwards."""
    cls = _class(submission, function)
    leaf, upstream = _leaf(x), torch.tensor(g)
    y = _applied(cls, leaf)
    dx = _first(y, leaf, upstream)
    return {
        "y": _data(y),
        NO_GRAPH: not y.requires_grad,
        "dx": _data(dx),
        "x afterwards": _data(leaf),
        "g afterwards": _data(upstream),
    }


@_watched
def twice(
    submission: Any, function: str, x: np.ndarray, g: np.ndarray, h: np.ndarray, transposed: bool = False
) -> dict[str, Any]:
    """The result, its gradient, and the gradients of (gradient · h); x and g may be transposed in memory."""
    cls = _class(submission, function)
    leaf, upstream = _leaf(x), _leaf(g)
    if transposed:
        leaf, upstream = (one.detach().T.contiguous().T.requires_grad_() for one in (leaf, upstream))
    y = _applied(cls, leaf)
    dx = _first(y, leaf, upstream, create_graph=True)
    second = _second(dx, (leaf, upstream), _laid(h))
    by_x, by_g = second.pop("of")
    return {
        "y": _data(y),
        "dx": _data(dx),
        **second,
        "dx differentiated by x": _data(by_x),
        "dx differentiated by g": _data(by_g),
    }


@_watched
def in_a_graph(
    submission: Any, function: str, a: np.ndarray, b: np.ndarray, g: np.ndarray, h: np.ndarray
) -> dict[str, Any]:
    """First and second derivatives by a and b, for x = a · b in the middle of a graph and the result squared."""
    cls = _class(submission, function)
    a_leaf, b_leaf = _leaf(a), _leaf(b)
    y = _applied(cls, a_leaf * b_leaf)
    da, db = _first(y * y, (a_leaf, b_leaf), torch.tensor(g), create_graph=True)
    second = _second(da, (a_leaf, b_leaf), torch.tensor(h))
    by_a, by_b = second.pop("of")
    return {
        "da": _data(da),
        "db": _data(db),
        **second,
        "da differentiated by a": _data(by_a),
        "da differentiated by b": _data(by_b),
    }


@_watched
def other_layouts(submission: Any, function: str, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """x and g as transposed views, and each as one row or column that is expanded."""
    cls = _class(submission, function)
    found = {}
    for name, (of_x, of_g) in {
        "x transposed": (torch.tensor(x).T.contiguous().T, torch.tensor(g)),
        "g transposed": (torch.tensor(x), torch.tensor(g).T.contiguous().T),
        "x expanded": (torch.tensor(x[:1]).expand(x.shape), torch.tensor(g)),
        "g expanded": (torch.tensor(x), torch.tensor(g[:1]).expand(g.shape)),
    }.items():
        leaf = of_x.requires_grad_()
        y = _applied(cls, leaf)
        found[f"y, {name}"] = _data(y)
        found[f"dx, {name}"] = _data(_first(y, leaf, of_g))
    return found


@_watched
def two_at_once(
    submission: Any, function: str, x: np.ndarray, other_x: np.ndarray, g: np.ndarray, other_g: np.ndarray
) -> dict[str, Any]:
    """Two forward passes, then the backward pass of the first, then that of the second."""
    cls = _class(submission, function)
    leaf, other = _leaf(x), _leaf(other_x)
    y, other_y = _applied(cls, leaf), _applied(cls, other)
    return {
        "dx": _data(_first(y, leaf, torch.tensor(g))),
        "d other_x": _data(_first(other_y, other, torch.tensor(other_g))),
    }


@_watched
def two_double_backwards(
    submission: Any, function: str, x: np.ndarray, other_x: np.ndarray, g: np.ndarray, other_g: np.ndarray
) -> dict[str, Any]:
    """Two gradients that are differentiated only after both have been computed, by an upstream gradient of 2s."""
    cls = _class(submission, function)
    leaves, upstreams = (_leaf(x), _leaf(other_x)), (_leaf(g), _leaf(other_g))
    gradients = [
        _first(_applied(cls, leaf), leaf, upstream, create_graph=True)
        for leaf, upstream in zip(leaves, upstreams, strict=True)
    ]
    found: dict[str, Any] = {}
    for name, dx, leaf, upstream in zip(("dx", "d other_x"), gradients, leaves, upstreams, strict=True):
        twos = torch.full_like(leaf, 2.0, requires_grad=False)
        by_x, by_g = _second(dx, (leaf, upstream), twos)["of"]
        found[f"{name} differentiated by its x"] = _data(by_x)
        found[f"{name} differentiated by its g"] = _data(by_g)
        found[f"{name}, the upstream gradient afterwards"] = _data(twos)
    return found


@_watched
def constant(submission: Any, function: str, x: np.ndarray) -> dict[str, Any]:
    """The result for an x that requires no gradient."""
    fixed = torch.tensor(x)
    y = _applied(_class(submission, function), fixed)
    return {
        "y": _data(y),
        "The result requires a gradient, and x does not": y.requires_grad,
        "x requires a gradient afterwards": fixed.requires_grad,
    }


@_watched
def changed_in_between(submission: Any, function: str, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The gradient, and whether autograd notices that x was changed in place between forward and backward."""
    cls = _class(submission, function)
    leaf = _leaf(x)
    dx = _first(_applied(cls, leaf), leaf, torch.tensor(g))
    middle = leaf * 1
    y = _applied(cls, middle)
    middle.detach().mul_(2)
    noticed = False
    try:
        _first(y, leaf, torch.tensor(g))
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        noticed = True
    return {
        "dx": _data(dx),
        "x was changed in place after forward, and backward went on with the new values. Saved by "
        "ctx.save_for_backward, x is watched: autograd refuses": not noticed,
    }


@_watched
def kept(submission: Any, function: str, x: np.ndarray) -> dict[str, Any]:
    """The bytes kept between the passes, the result, and the gradient for a g of ones."""
    cls = _class(submission, function)
    leaf = _leaf(x)
    live, before = LiveStorages(), _of_class(cls)
    with out_of_reach(live):
        y = _applied(cls, leaf)
        made = _still_alive(live, y)
    attribute, saved = _has_attributes(y, cls, before), storage_bytes(_saved(y))
    return {
        NO_GRAPH: not y.requires_grad,
        ATTRIBUTE: attribute,
        "y": _data(y),
        "dx": _data(_first(y, leaf, torch.ones_like(y))),
        "bytes saved for backward": saved,
        "bytes of new tensors still alive, the result's aside": made,
    }


@_watched
def kept_for_a_second(submission: Any, function: str, x: np.ndarray, g: np.ndarray, h: np.ndarray) -> dict[str, Any]:
    """The bytes of new tensors that wait for the double backward, result and gradient aside, and what it gives."""
    cls = _class(submission, function)
    of_backward = getattr(submission, f"{function}Backward", None)
    before = _of_class(of_backward) if isinstance(of_backward, type) else set()
    leaf, upstream = _leaf(x), _leaf(g)
    live = LiveStorages()
    with out_of_reach(live):
        y = _applied(cls, leaf)
        dx = _first(y, leaf, upstream, create_graph=True)
        made = _still_alive(live, *(tensor for tensor in (y, dx) if tensor is not None))
    attribute = (
        isinstance(dx, torch.Tensor) and isinstance(of_backward, type) and _has_attributes(dx, of_backward, before)
    )
    second = _second(dx, (leaf, upstream), _laid(h))
    by_x, by_g = second.pop("of")
    recorded = not any(second.values()) and not _of_a_function(dx)
    return {
        ATTRIBUTE: attribute,
        "dx": _data(dx),
        **second,
        RECORDED_AGAIN.format(name=f"{function}Backward"): recorded,
        "bytes of new tensors that wait for the double backward, the result and dx aside": made,
        "dx differentiated by x": _data(by_x),
        "dx differentiated by g": _data(by_g),
    }


@_watched
def calls(submission: Any, function: str, inputs: tuple[np.ndarray, ...], g: np.ndarray, factor: float) -> dict:
    """Whether `apply` gets its result from forward, and a backward pass its gradient from backward.

    The result of backward is scaled by a factor, so the gradient must be scaled too.
    """
    cls = _class(submission, function)
    right = _of_apply(cls, inputs, g, 1.0)
    multiplied = _of_apply(cls, inputs, g, factor)
    dx, of_backward = right.pop("dx"), multiplied.pop("dx")
    followed = of_backward is None if dx is None else torch.allclose(of_backward, factor * dx, equal_nan=True)
    return {**right, "The gradient is not what backward returns": not followed}


@_watched
def checked(submission: Any, function: str, x: np.ndarray, g: np.ndarray, h: np.ndarray) -> dict[str, Any]:
    """The verdicts of PyTorch's gradcheck and gradgradcheck, together with the numbers themselves."""
    cls = _class(submission, function)

    def apply(tensor: torch.Tensor) -> torch.Tensor:
        return _applied(cls, tensor)

    values = once(submission, function, x, g)
    first = _says_yes(_gradcheck, apply, x)
    second = _says_yes(_gradgradcheck, apply, x)
    numbers = twice(submission, function, x, g, h)
    return {"y": values["y"], "gradcheck": first, "gradgradcheck": second, **numbers}


def _says_yes(check: Callable[..., bool], apply: Any, x: np.ndarray) -> str:
    try:
        with own_functions():
            return "accepted" if check(apply, (_leaf(x),), raise_exception=False) else "rejected"
    except RuntimeError:
        return "rejected"
