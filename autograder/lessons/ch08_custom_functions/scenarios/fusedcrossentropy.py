"""Scenarios of FusedCrossEntropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch08_custom_functions.scenarios.applied import (
    ATTRIBUTE,
    NO_GRAPH,
    Function,
    _applied,
    _class,
    _data,
    _first,
    _has_attributes,
    _laid,
    _leaf,
    _of_class,
    _rule,
    _saved,
    _still_alive,
    _watched,
)
from autograder.worker.returned import own_functions, plain
from course.instruments.live import LiveStorages, storage_bytes
from course.instruments.out_of_reach import out_of_reach


@_watched
def cross_entropy(
    submission: Any, logits: np.ndarray, targets: np.ndarray, g: float, dtype: str = "float64"
) -> dict[str, Any]:
    """The loss, the gradient of the logits for an upstream gradient g, and the arguments afterwards."""
    cls = _class(submission, "FusedCrossEntropy")
    leaf, rows = _leaf(logits, getattr(torch, dtype)), _laid(targets)
    loss = _applied(cls, leaf, rows)
    dlogits = _first(loss, leaf, torch.tensor(g, dtype=leaf.dtype))
    return {
        "loss": _data(loss),
        NO_GRAPH: not loss.requires_grad,
        "dlogits": _data(dlogits),
        "logits afterwards": _data(leaf),
        "targets afterwards": _data(rows),
    }


@_watched
def linear_classifier(submission: Any, X: np.ndarray, W: np.ndarray, targets: np.ndarray, g: float) -> dict[str, Any]:
    """The gradients of X and W for a loss times g, with logits = (X @ W).T.T, no leaf and not contiguous."""
    cls = _class(submission, "FusedCrossEntropy")
    X_leaf, W_leaf = _leaf(X), _leaf(W)
    logits = (W_leaf.T @ X_leaf.T).T
    loss = _applied(cls, logits, torch.tensor(targets))
    upstream = torch.tensor(1.0, dtype=torch.float64)
    dX, dW = _first(g * loss, (X_leaf, W_leaf), upstream)
    return {"loss": _data(loss), NO_GRAPH: not loss.requires_grad, "dX": _data(dX), "dW": _data(dW)}


@_watched
def second_backward(submission: Any, logits: np.ndarray, targets: np.ndarray, g: float, other_g: float) -> dict:
    """Two backward passes through one graph, then two more that accumulate in `.grad`."""
    cls = _class(submission, "FusedCrossEntropy")
    leaf = _leaf(logits)
    loss = _applied(cls, leaf, torch.tensor(targets))
    upstream, other = (torch.tensor(value, dtype=torch.float64) for value in (g, other_g))
    refused, first, second = False, None, None
    try:
        first = _first(loss, leaf, upstream, retain_graph=True)
        first = _data(first)
        second = _data(_first(loss, leaf, other, retain_graph=True))
        for _ in range(2 if loss.requires_grad else 0):
            with own_functions():
                torch.Tensor.backward(plain(loss), upstream, retain_graph=True)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        refused = True
    return {
        "dlogits": first,
        "The second backward pass failed: backward wrote into a tensor that it had saved": refused,
        "dlogits of a second backward pass, with other_g": second,
        "logits.grad after two more passes with g": _data(leaf.grad),
    }


@_watched
def two_losses(
    submission: Any, logits: np.ndarray, other_logits: np.ndarray, targets: np.ndarray, other_targets: np.ndarray
) -> dict[str, Any]:
    """Two forward passes, then the backward pass of the first, then that of the second; g is 2, then 3."""
    cls = _class(submission, "FusedCrossEntropy")
    leaf, other = _leaf(logits), _leaf(other_logits)
    loss = _applied(cls, leaf, torch.tensor(targets))
    other_loss = _applied(cls, other, torch.tensor(other_targets))
    two, three = (torch.tensor(value, dtype=torch.float64) for value in (2.0, 3.0))
    return {
        "dlogits": _data(_first(loss, leaf, two)),
        "d other_logits": _data(_first(other_loss, other, three)),
    }


@_watched
def kept_of_logits(submission: Any, logits: np.ndarray, targets: np.ndarray) -> dict[str, Any]:
    """The bytes kept between the passes, without the targets, which existed before, and the loss.

    `made` leaves out the logits; `alive` counts them, too, if they are kept.
    """
    cls = _class(submission, "FusedCrossEntropy")
    leaf, rows = _leaf(logits), torch.tensor(targets)
    live, before = LiveStorages(), _of_class(cls)
    with out_of_reach(live):
        loss = _applied(cls, leaf * 1, rows)
        alive = _still_alive(live, loss)
        del loss
    live = LiveStorages()
    with out_of_reach(live):
        loss = _applied(cls, leaf, rows)
        made = _still_alive(live, loss)
    saved = storage_bytes([rows, *_saved(loss)]) - storage_bytes([rows])
    _first(loss, leaf, torch.ones_like(loss))  # it must also be usable
    return {
        "saved": saved,
        "made": made,
        "alive": alive,
        "loss": _data(loss),
        NO_GRAPH: not loss.requires_grad,
        ATTRIBUTE: _has_attributes(loss, cls, before),
    }


class _Context(torch.autograd.function.FunctionCtx):
    """A ctx for `forward` and `backward`, with our own `needs_input_grad`."""

    to_save: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, bool] = (False, False)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.to_save


@_watched
def frozen_logits(submission: Any, logits: np.ndarray, targets: np.ndarray, g: float) -> dict[str, Any]:
    """What forward saves and backward returns if `ctx.needs_input_grad` says that no gradient is needed."""
    cls = _class(submission, "FusedCrossEntropy")
    fixed, rows, upstream = torch.tensor(logits), torch.tensor(targets), torch.tensor(g, dtype=torch.float64)
    loss = _applied(cls, fixed, rows)
    saved, gradients = _by_hand(cls, (False, False), fixed, rows, upstream)
    _, wanted = _by_hand(cls, (True, False), fixed, rows, upstream)
    return {
        "loss": _data(loss),
        "The loss requires a gradient, and the logits do not": loss.requires_grad,
        "forward saves tensors although ctx.needs_input_grad[0] is False": bool(saved),
        "backward returns a gradient although ctx.needs_input_grad[0] is False": any(
            gradient is not None for gradient in gradients
        ),
        "backward returns a gradient for targets; return None": any(gradient is not None for gradient in wanted[1:]),
    }


def _by_hand(cls: Any, needs: tuple[bool, bool], logits: Any, targets: Any, g: Any) -> tuple[list[Any], Sequence[Any]]:
    """What forward saves and backward returns, called directly; backward is skipped if forward saves too much."""
    ctx = _Context()
    ctx.needs_input_grad = needs
    with torch.no_grad():
        if cls.setup_context is not Function.setup_context:
            cls.setup_context(ctx, (logits, targets), cls.forward(logits, targets))
        else:
            cls.forward(ctx, logits, targets)
        saved = [plain(value) for value in (*ctx.to_save, *vars(ctx).values()) if isinstance(value, torch.Tensor)]
        returned: Any = () if saved and not needs[0] else getattr(cls, _rule(cls))(ctx, g)
    return saved, returned if isinstance(returned, tuple) else (returned,)
