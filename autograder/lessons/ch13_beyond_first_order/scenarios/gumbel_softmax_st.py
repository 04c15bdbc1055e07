"""Scenarios of gumbel_softmax_st."""

from __future__ import annotations

from collections.abc import Sequence
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
from autograder.worker.returned import own_functions, plain

_grad = torch.autograd.grad


def _draws_again() -> None:
    """Seed the generators, so that a submission that draws its own noise always draws the same and is recognised."""
    torch.default_generator.manual_seed(0)


def _backward(output: Any, leaf: Tensor, g: np.ndarray) -> Any:
    """The gradient of a leaf, if the output depends on it."""
    if not _requires_grad(output) or output.shape != g.shape:
        return None
    with own_functions():
        return _data(_grad(plain(output), leaf, torch.tensor(g, dtype=output.dtype), allow_unused=True)[0])


@torch.enable_grad()
def chosen(submission: Any, logits: np.ndarray, tau: float, gumbels: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The choice, and the gradient of the logits."""
    _draws_again()
    leaf = torch.tensor(logits, requires_grad=True)
    y = plain(submission.gumbel_softmax_st(leaf, tau, torch.tensor(gumbels)))
    return {"y": _data(y), "dlogits": _backward(y, leaf, g)}


@torch.enable_grad()
def chosen_in_states(
    submission: Any, logits: np.ndarray, tau: float, gumbels: np.ndarray, g: np.ndarray, states: dict[str, str]
) -> dict[str, Any]:
    """The choice, the gradient of the logits, and side effects, for tensors in these states."""
    _draws_again()
    tensor, noise = _in_states("logits", logits, states), _in_states("gumbels", gumbels, states)
    before = _Before(logits=tensor, gumbels=noise)
    y = plain(submission.gumbel_softmax_st(tensor, tau, noise))
    found: dict[str, Any] = {**before.changes(), "y": _data(y), "dlogits": None}
    told = "The result requires a gradient, and logits does not"
    found[told] = not tensor.requires_grad and _requires_grad(y)
    if tensor.requires_grad and _requires_grad(y) and y.shape == tensor.shape:
        upstream = _in_states("g", g, states).to(y.dtype)
        with own_functions():
            found["dlogits"] = _data(_grad(plain(y), tensor, upstream, allow_unused=True)[0])
    return found


@torch.enable_grad()
def only_chosen(submission: Any, logits: np.ndarray, tau: float, gumbels: np.ndarray) -> dict[str, Any]:
    """The choice alone, which is compared exactly."""
    _draws_again()
    leaf = torch.tensor(logits, requires_grad=True)
    return {"y": _data(submission.gumbel_softmax_st(leaf, tau, torch.tensor(gumbels)))}


@torch.enable_grad()
def chosen_on_the_way(
    submission: Any, a: np.ndarray, b: np.ndarray, tau: float, gumbels: np.ndarray, W: np.ndarray, kinds: Sequence[str]
) -> dict[str, Any]:
    """The gradients of a and b for logits = a · b and a loss that is not a sum of the choices."""
    _draws_again()
    leaves = [torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)]
    logits, noise = leaves[0] * leaves[1], _as(kinds[0], gumbels)
    y = plain(submission.gumbel_softmax_st(logits, tau, noise))
    grads: Sequence[Any] = (None, None)
    if _requires_grad(y) and y.shape == logits.shape:
        grads = _grad((torch.tanh(y.to(logits.dtype) @ torch.tensor(W)) ** 2).sum(), leaves, allow_unused=True)
    return {"y": _data(y), "da": _data(grads[0]), "db": _data(grads[1])}


@torch.enable_grad()
def beside_choice(
    submission: Any, logits: np.ndarray, tau: float, gumbels: np.ndarray, kind: str, g: np.ndarray
) -> dict[str, Any]:
    """The choice for logits that require no gradient, and side effects."""
    _draws_again()
    tensor, noise = _as(kind, logits), torch.tensor(gumbels)
    before, state = _Before(logits=tensor, gumbels=noise), torch.get_rng_state()
    y = plain(submission.gumbel_softmax_st(tensor, tau, noise))
    asked = tensor.requires_grad
    return {
        **before.changes(),
        "The result requires a gradient, and logits does not": not asked and _requires_grad(y),
        "Random numbers were drawn: the noise is given": not torch.equal(torch.get_rng_state(), state),
        "y": _data(y),
        "dlogits": _backward(y, tensor, g) if asked else None,
    }
