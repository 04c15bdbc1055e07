"""Scenarios of straight_through_round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch04_detachment.scenarios.steps import _backward, _data
from autograder.worker.layout import laid_out
from autograder.worker.returned import plain


@torch.enable_grad()
def rounded(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The result for a leaf x, and its gradient."""
    leaf = torch.tensor(x, requires_grad=True)
    y = plain(submission.straight_through_round(leaf))
    _backward(y, torch.tensor(g))
    return {"y": _data(y), "dx": _data(leaf.grad), "x afterwards": _data(leaf)}


@torch.enable_grad()
def rounded_in_states(submission: Any, x: np.ndarray, g: np.ndarray, states: dict[str, str]) -> dict[str, Any]:
    """Like `rounded`, for an x of the origin, precision and layout that `states` says."""
    origin, precision = states["tensor origin"], states["tensor precision"]
    dtype = None if precision == "plain" else getattr(torch, precision.removeprefix("in "))
    leaf = laid_out(torch.tensor(np.array(x)).to(dtype), states["x layout"])
    upstream = laid_out(torch.tensor(np.array(g)).to(dtype), states["g layout"])
    leaf.requires_grad_(origin != "that requires no gradient")
    if states["tensor grads"] == "with a grad":
        leaf.grad = torch.full(leaf.shape, 0.5, dtype=leaf.dtype)
    tensor = leaf.view_as(leaf) if origin == "in the middle of a graph" else leaf
    y = plain(submission.straight_through_round(tensor))
    told = "The result requires a gradient, and x does not"
    asked = {told: not leaf.requires_grad and isinstance(y, torch.Tensor) and y.requires_grad}
    _backward(y, upstream)
    return {**asked, "y": _half(y), "dx": _half(leaf.grad), "x afterwards": _half(leaf)}


def _half(value: Any) -> Any:
    """A tensor's values; NumPy lacks bfloat16, so that float16 stands for it."""
    narrow = isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16
    return _data(value.half() if narrow else value)


@torch.enable_grad()
def rounded_product(submission: Any, a: np.ndarray, b: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The result for x = a · b in the middle of a graph, and the gradients of a and b."""
    a_leaf, b_leaf = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)
    x = a_leaf * b_leaf
    y = plain(submission.straight_through_round(x))
    _backward(y, torch.tensor(g))
    return {"y": _data(y), "da": _data(a_leaf.grad), "db": _data(b_leaf.grad), "x afterwards": _data(x)}


STEPS: dict[str, Any] = {
    "sin": lambda v, a: v.sin(),
    "tanh": lambda v, a: v.tanh(),
    "square": lambda v, a: v * v,
    "times": lambda v, a: v * a,
    "divided by": lambda v, a: a / (1 + v * v),
    "plus": lambda v, a: v + a,
    "matmul": lambda v, a: v @ a,
    "sums": lambda v, a: v.cumsum(-1),
    "flip": lambda v, a: v.flip(-1),
    "softmax": lambda v, a: v.softmax(-1),
}
"""Operations on a vector v with a constant array a; the gradient through them cannot be read off the arguments."""


def _follow(value: torch.Tensor, steps: Sequence[tuple[str, np.ndarray]]) -> torch.Tensor:
    for name, array in steps:
        value = STEPS[name](value, torch.tensor(array))
    return value


@torch.enable_grad()
def rounded_on_the_way(
    submission: Any, u: np.ndarray, before: Sequence[Any], after: Sequence[Any], g: np.ndarray
) -> dict[str, Any]:
    """The rounded values between the steps before and after, and the gradient of the program's input u."""
    leaf = torch.tensor(u, requires_grad=True)
    x = _follow(leaf, before)
    values = _data(x)
    y = plain(submission.straight_through_round(x))
    if isinstance(y, torch.Tensor) and y.shape == x.shape:
        _backward(_follow(y.to(x.dtype), after), torch.tensor(g))  # of another dtype, it would go on with nothing
    return {
        "y": _data(y),
        "du": _data(leaf.grad),
        "x has other values afterwards": not np.array_equal(values, _data(x)),
    }


@torch.enable_grad()
def rounded_constant(submission: Any, x: np.ndarray) -> dict[str, Any]:
    """The result for an x that requires no gradient."""
    constant = torch.tensor(x)
    y = plain(submission.straight_through_round(constant))
    return {
        "y": _data(y),
        "The result requires a gradient, and x does not": isinstance(y, torch.Tensor) and y.requires_grad,
        "x requires a gradient afterwards": constant.requires_grad,
    }
