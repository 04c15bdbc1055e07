"""Four questions to ask of a training program: tools to take home from the chapter on debugging gradients.

Write your own first: they are its exercises. These have the same contracts, and types.
"""

from __future__ import annotations

import math
import re
import statistics
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

import torch
from torch import Tensor, nn

EXPLODING = 1000
"""A norm above this multiple of the model's median norm is called exploding: an alarm, no law."""

_NAN_NODE = re.compile(r"Function '(.+)' returned nan values")

Batch = Tensor | tuple[Tensor, ...]


class Gradient(TypedDict):
    """What `gradient_report` says of one parameter."""

    name: str
    norm: float | None
    """Euclidean, taken in float64; `None` where `.grad` is `None`."""
    status: str
    """`none`, `nonfinite`, `zero`, `exploding` or `ok`: the first that holds."""


def gradient_report(model: nn.Module) -> list[Gradient]:
    """Each parameter's gradient after `backward()`, in the order of `model.named_parameters()`.

    `exploding` is a norm over `EXPLODING` times the median of the model's norms that are finite and not 0. Changes
    nothing. Parameters may have any shape and any real floating dtype. Reads one number for each parameter: on a GPU,
    call it every so many steps.
    """
    norms = {
        name: None if parameter.grad is None else parameter.grad.double().norm().item()
        for name, parameter in model.named_parameters()
    }
    usual = [norm for norm in norms.values() if norm is not None and 0 < norm < math.inf]
    limit = EXPLODING * statistics.median(usual) if usual else math.inf
    return [Gradient(name=name, norm=norm, status=_status(norm, limit)) for name, norm in norms.items()]


def _status(norm: float | None, limit: float) -> str:
    if norm is None:
        return "none"
    if not math.isfinite(norm):
        return "nonfinite"
    if norm == 0:
        return "zero"
    return "exploding" if norm > limit else "ok"


def first_nonfinite(model: nn.Module, x: Any) -> str | None:
    """The first leaf module, in order of execution, whose output has a nan or an inf, by its name; `None` without one.

    Runs `model(x)` once, in the model's mode and with a graph unless the caller is under `no_grad`; what the model
    raises goes on to the caller. Leaves no hook. Outputs may be tensors, or tuples, lists and dicts of outputs.
    Operations outside of modules are not seen: look at what lies between the last finite module and this one.
    """
    found: list[str] = []

    def look(name: str, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if not found and not _finite(output):
            found.append(name)

    hooks = [
        module.register_forward_hook(partial(look, name))
        for name, module in model.named_modules()
        if next(module.children(), None) is None
    ]
    try:
        model(x)
    finally:
        for hook in hooks:
            hook.remove()
    return found[0] if found else None


def _finite(output: Any) -> bool:
    if isinstance(output, Tensor):
        return bool(output.isfinite().all())
    if isinstance(output, Mapping):
        return all(map(_finite, output.values()))
    if isinstance(output, tuple | list):
        return all(map(_finite, output))
    return True


def anomaly_op(fn: Callable[[], Tensor]) -> str | None:
    """The first autograd node whose backward returned a nan (`"SqrtBackward0"`), or `None`.

    `fn()` runs the forward pass and returns the loss, of one entry. Its backward runs in anomaly mode and may add to
    `.grad`. The mode looks for nan in what nodes return: not for inf, and not into sums of what several nodes return.
    So a `.grad` may hold a nan where this says `None`, and the node that is named may have been handed an inf. Other
    exceptions go on to the caller, and anomaly mode is then what it was.
    """
    with warnings.catch_warnings(), _quiet_anomaly_mode():
        loss = fn()
        try:
            loss.backward()
        except RuntimeError as error:
            told = _NAN_NODE.search(str(error))
            if told is None:
                raise
            return told[1]
    return None


def _quiet_anomaly_mode() -> torch.autograd.detect_anomaly:
    """Anomaly mode, less the two warnings that it gives: that it is on, and where the forward call was."""
    warnings.simplefilter("ignore")
    return torch.autograd.detect_anomaly()


def repeated_batches(batches: Sequence[Batch]) -> list[tuple[int, int]]:
    """Every pair `(i, j)`, `i < j`, of equal batches, in ascending order.

    A batch is a tensor, or a tuple of tensors, of any dtype that `==` compares. Batches are equal if dtype, shape and
    all entries are, nan being equal to nan. Compares each pair: for hundreds of batches, not for a whole data set.
    """
    return [(i, j) for i in range(len(batches)) for j in range(i + 1, len(batches)) if _equal(batches[i], batches[j])]


def _equal(a: Batch, b: Batch) -> bool:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and all(map(_equal, a, b))
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(((a == b) | ((a != a) & (b != b))).all())  # only a nan differs from itself
