"""Five tools for debugging a training program, from the chapter on debugging gradients.

They are that chapter's exercises, so write your own first. These have the same contracts, with types.
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
"""A norm above this multiple of the model's median norm is called exploding: a rule of thumb, not a law."""

_NAN_NODE = re.compile(r"Function '(.+)' returned nan values")

Batch = Tensor | tuple[Tensor, ...]


class Gradient(TypedDict):
    """The entry of one parameter in a `gradient_report`."""

    name: str
    norm: float | None
    """The Euclidean norm, computed in float64; `None` if `.grad` is `None`."""
    status: str
    """The first of `none`, `nonfinite`, `zero`, `exploding` and `ok` that applies."""


def gradient_report(model: nn.Module) -> list[Gradient]:
    """The norm and status of each parameter's gradient after `backward()`, in the order of `model.named_parameters()`.

    `exploding` means a norm above `EXPLODING` times the median of the norms that are finite and not 0. The model is not
    changed. Parameters may have any shape and any real floating dtype. Reading each norm synchronizes with a GPU, so
    there do not call it in every step.
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
    """The name of the first leaf module, in order of execution, whose output has a nan or an inf; `None` if none has.

    Runs `model(x)` once, in the model's current mode, with a graph unless the caller is under `no_grad`. Exceptions of
    the model propagate; no hooks stay. Outputs may be tensors, or tuples, lists and dicts of outputs. Operations
    outside of modules are not seen, so the fault may be between the last finite module and this one.
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
    """The name of the first autograd node whose backward returned a nan (`"SqrtBackward0"`); `None` if none did.

    `fn()` runs the forward pass and returns the loss, of one entry. Its backward runs in anomaly mode and may add to
    `.grad`. Anomaly mode looks for nan in what nodes return, but not for inf, nor in sums of several nodes' results.
    So `.grad` may have a nan although this returns `None`, and the named node may have received an inf. Other
    exceptions propagate. Anomaly mode is restored in any case.
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
    """Anomaly mode without its two warnings, about being on and about the place of the forward call."""
    warnings.simplefilter("ignore")
    return torch.autograd.detect_anomaly()


def repeated_batches(batches: Sequence[Batch]) -> list[tuple[int, int]]:
    """Every pair `(i, j)`, `i < j`, of equal batches, in ascending order.

    A batch is a tensor, or a tuple of tensors, of any dtype that `==` compares. Batches are equal if their dtypes,
    shapes and entries are, where nan equals nan. Every pair is compared, which is fast enough for hundreds of batches.
    """
    return [(i, j) for i in range(len(batches)) for j in range(i + 1, len(batches)) if _equal(batches[i], batches[j])]


def _equal(a: Batch, b: Batch) -> bool:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and all(map(_equal, a, b))
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(((a == b) | ((a != a) & (b != b))).all())  # only a nan differs from itself


def slopes(
    model: nn.Module, loss_of: Callable[[], Tensor], direction: Sequence[Tensor], eps: float = 1e-6
) -> tuple[float, float]:
    """The slope along `direction` that `.grad` claims, and the one that the loss has.

    The first is the sum of products of `.grad` (0 for `None`) and `direction`, the second the central difference
    `(loss(θ + eps v) − loss(θ − eps v)) / (2 eps)` over all parameters, frozen ones too.

    Args:
        loss_of: computes the loss, of one entry, with the parameters as they are. It must be the same function in both
            calls (no dropout), and smooth between the two ends.
        direction: one tensor for each parameter in the order of `model.parameters()`, with its shape and dtype. Draw
            the entries from a standard normal distribution: then the two slopes differ by about the length of the
            gradient's error.
        eps: the step. Use float64: in float32 rounding hides small errors.

    Parameters are restored exactly, also if `loss_of` raises; that exception propagates.

    Raises:
        ValueError: `direction` has more or fewer tensors than the model has parameters.
    """
    steps = list(zip(model.parameters(), direction, strict=True))
    claimed = math.fsum((parameter.grad * v).sum().item() for parameter, v in steps if parameter.grad is not None)
    start = [parameter.detach().clone() for parameter, _ in steps]
    try:
        _move(steps, start, eps)
        above = loss_of().item()
        _move(steps, start, -eps)
        below = loss_of().item()
    finally:
        _move(steps, start, 0)
    return claimed, (above - below) / (2 * eps)


def _move(steps: Sequence[tuple[nn.Parameter, Tensor]], start: Sequence[Tensor], eps: float) -> None:
    """Set each parameter to its start + eps · v; with eps 0, to exactly its start."""
    with torch.no_grad():
        for (parameter, v), at in zip(steps, start, strict=True):
            parameter.copy_(at + eps * v if eps else at)
