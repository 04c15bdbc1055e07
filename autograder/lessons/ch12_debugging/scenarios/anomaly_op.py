"""Scenarios of anomaly_op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _named


class _Halves(torch.autograd.Function):
    """A custom function whose backward is wrong at 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x / 2

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return g / 2 * x / x


OPERATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    # for an entry of 0 with upstream gradient 0, the backward of each computes 0 / 0 or 0 · inf
    "sqrt": torch.sqrt,
    "log": lambda x: (x.log()).clamp(min=-9.0),
    "rsqrt": lambda x: x.rsqrt().clamp(max=9.0),
    "divide": lambda x: (1 / x).clamp(max=9.0),
    "power": lambda x: x**0.25,
    "log10": lambda x: x.log10().clamp(min=-9.0),
    "acos": lambda x: torch.acos(1 - x),
    "of one's own": _Halves.apply,
}


HARMLESS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    # each keeps a 0, and has finite gradients there
    "sin": torch.sin,
    "tanh": torch.tanh,
    "expm1": lambda x: x.expm1() / 2,
    "halves": lambda x: x / 2,
    "sqrt far from 0": lambda x: (x + 1).sqrt() - 1,
    "log far from 0": lambda x: (x + 1).log(),
}


def _loss(kind: str, x: torch.Tensor, before: list[str], beside: str) -> torch.Tensor:
    """A finite loss in which the operation `kind` makes a nan in backward where x is 0.

    Harmless operations come before it, and another one is in a term of its own.
    """
    h = x * x
    for name in before:
        h = HARMLESS[name](h)
    y = OPERATIONS[kind](h)
    loss = torch.where(x == 0, torch.zeros_like(y), y).tanh().sum()
    return loss + HARMLESS[beside](x).sum() if beside else loss


def _anomaly_of(submission: Any, fn: Callable[[], torch.Tensor], already: bool) -> dict[str, Any]:
    """What `anomaly_op` names for `fn`, how often it calls `fn`, and whether it leaves anomaly mode as it was."""
    calls = 0

    def counted() -> torch.Tensor:
        nonlocal calls
        calls += 1
        return fn()

    with _fresh(), torch.autograd.set_detect_anomaly(already):
        name = submission.anomaly_op(counted)
        left = torch.is_anomaly_enabled()
    return {
        "Anomaly mode is not what it was before the call": left is not already,
        "fn was not called exactly once": calls != 1,
        "the name": _named(name),
    }


def anomaly(
    submission: Any,
    kind: str,
    x: np.ndarray,
    already: bool = False,
    shape: tuple[int, ...] = (),
    before: tuple[str, ...] = (),
    beside: str = "",
) -> dict[str, Any]:
    """The named node, how often fn ran, and whether anomaly mode is unchanged, for a loss of this shape."""

    def fn() -> torch.Tensor:
        leaf = torch.tensor(x, requires_grad=True)
        if kind == "inf":
            return leaf.abs().sqrt().sum()
        if kind == "nan in the values alone":
            return (leaf.detach().abs().neg().sub(1).sqrt() + leaf).sum()
        if kind == "nan in a sum":
            return (leaf.sqrt() - leaf.sqrt()).sum()
        return _loss(kind, leaf, list(before), beside).reshape(shape)

    return _anomaly_of(submission, fn, already)


def anomaly_raises(submission: Any, who: str, message: str) -> dict[str, Any]:
    """What happens to exceptions that are not anomalies."""

    def fn() -> torch.Tensor:
        if who == "fn":
            raise RuntimeError(message)
        x = torch.ones(2, requires_grad=True)
        if who == "backward":
            h = x.exp()
            loss = h.sum()
            h += 1
            return loss
        return x.detach().sum()

    kind, said, name = "", "", None
    with _fresh():
        try:
            name = submission.anomaly_op(fn)
        except NotImplementedError:  # not written yet; it is a subclass of RuntimeError
            raise
        except RuntimeError as error:
            kind, said = type(error).__name__, str(error)
        left = torch.is_anomaly_enabled()
    own = {"fn": message, "backward": "modified by an inplace operation", "no graph": "does not require grad"}[who]
    return {
        "An exception that is no anomaly was caught; let it pass": name is not None or not kind,
        "Another exception is raised than the one that there was": bool(kind) and own not in said,
        "Anomaly mode is on after an exception": left,
        "what is raised": said if who == "fn" else kind,
    }
