"""Whether the grads that a training follows are a loss's, through two layers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograder.lessons.ch05_autograd_engine.scenarios.composed import (
    SMALL,
    is_long_vector,
    shares_beside_products,
)
from autograder.lessons.ch05_autograd_engine.scenarios.engine import has_its_own_tape
from autograder.lessons.ch05_autograd_engine.scenarios.train_digits import (
    _apart,
    _Enough,
    _grad,
    _leaves_below,
    _outermost,
)

LOOKED = 40
"""Number of passes after the changed one in which a step is expected: one for each image of a batch."""
LONGER = {8: 1.001, 4: 1.02, 2: 1.5}
"""Bytes of a number to the factor by which one grad is changed: small, because units of relu have kinks, but more than
what rounding hides. Half of the steps' second-order effects is in the mean of two gradients."""
OF_A_VECTOR = 5
"""The last bias may have this share of the gradient of a vector with all weights, times the limit of a matrix."""


class _Pass(NamedTuple):
    """What one backward pass is called on, and what it adds to the grads."""

    value: float
    rounding: float
    data: list[Any]
    added: list[Any]


def gradients_of_the_loss(
    submission: Any, X: Any, y: Any, X_test: Any, seed: int, moves: Any, changed: int
) -> dict[str, Any] | None:
    """Compare the grads of a training with its loss and its graph; None for a graph that cannot be walked.

    Args:
        moves: for each leaf whether its grads move it, see `grads_that_move_the_loss`.
        changed: number of the pass whose grads are changed; the graphs of this and those before are looked at.

    Returns:
        For each array of more than 32 numbers that is moved: the shares of its gradients that go through no product of
        two layers (`beside`); and, where its grad of one pass is longer, by how much the next loss that changes differs
        from what the grads say (`off`), relative to the larger of both. And whether a training with the same seed
        began with other numbers (`strays`): then there is nothing to compare.
    """
    if has_its_own_tape(submission):
        return None
    original = submission.Tensor.backward
    first: list[_Pass] = []
    beside: list[float] = []
    arrays: list[int] = []
    off: list[float] = []
    strays: list[bool] = []

    def watching(self: Any, args: Any, kwargs: Any) -> Any:
        nonlocal arrays
        if len(first) <= changed:
            leaves = _leaves_below(self)
            moved = (_apart(n) < len(moves) and moves[_apart(n)] is True for n in range(len(leaves)))
            arrays = [n for n, moves_it in enumerate(moved) if moves_it and leaves[n].data.size > SMALL]
            shares = shares_beside_products(self, [leaves[n] for n in arrays])
            for n, share in zip(arrays, shares, strict=True):
                beside.append(share / (OF_A_VECTOR if is_long_vector(leaves[n].data) else 1))
        one, result = _watched(original, self, args, kwargs)
        first.append(one)
        if len(first) > changed + LOOKED:
            raise _Enough
        return result

    def run(instead: Callable[[Any, Any, Any], Any]) -> None:
        submission.Tensor.backward = _outermost(original, instead)
        with contextlib.suppress(_Enough):
            submission.train_digits(X, y, X_test, seed)

    try:
        run(watching)
        for number in arrays:
            run(_changing(original, first, changed, number, off, strays))
    finally:
        submission.Tensor.backward = original
    return {"beside": beside, "off": off, "strays": any(strays)}


def _changing(
    original: Any, first: list[_Pass], changed: int, number: int, off: list[float], strays: list[bool]
) -> Callable[[Any, Any, Any], Any]:
    """A pass that lengthens one grad once, and compares the first loss that differs with that of the first training."""
    passed = 0

    def instead(self: Any, args: Any, kwargs: Any) -> Any:
        nonlocal passed
        if passed == len(first):
            raise _Enough
        leaves = _leaves_below(self) if passed == changed else []
        one, result = _watched(original, self, args, kwargs)
        if passed == 0 and not _begins_alike(first[0], one):
            strays.append(True)
            raise _Enough
        if passed == changed:
            grad = np.asarray(leaves[number].grad)
            leaves[number].grad = (LONGER.get(grad.itemsize, 1.001) * grad).astype(grad.dtype)
        elif passed > changed:
            found = _off(first[passed], one)
            if found is not None:
                off.append(found)
                raise _Enough
        passed += 1
        return result

    return instead


def _begins_alike(first: _Pass, other: _Pass) -> bool:
    pairs = zip(first.data, other.data, strict=False)
    return len(first.data) == len(other.data) and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def _watched(backward: Any, root: Any, args: Any, kwargs: Any) -> tuple[_Pass, Any]:
    """Run a pass; return what is compared of it, and its result."""
    leaves = _leaves_below(root)
    g = args[0] if args else kwargs.get("g")
    value = np.asarray(root.data) * (1.0 if g is None else np.asarray(g))
    rounding = float(np.finfo(np.asarray(root.data).dtype).eps * np.abs(value).sum())
    data = [np.array(leaf.data) for leaf in leaves]
    before = [0.0 if leaf.grad is None else np.array(leaf.grad) for leaf in leaves]
    result = backward(root, *args, **kwargs)
    added = [_grad(leaf) - old for leaf, old in zip(leaves, before, strict=True)]
    return _Pass(float(value.sum()), rounding, data, added), result


def _off(first: _Pass, other: _Pass) -> float | None:
    """By how much the losses differ from what the grads say of the leaves' differences; None if these are too small."""
    if [array.shape for array in first.data] != [array.shape for array in other.data]:
        return None
    steps = [np.asarray(b - a, np.float64) for a, b in zip(first.data, other.data, strict=True)]
    step = np.sqrt(sum(np.sum(one**2) for one in steps))
    if step <= 1e-9 * np.sqrt(sum(np.sum(np.square(array, dtype=np.float64)) for array in first.data)):
        return None
    slopes = [np.asarray(a + b, np.float64) / 2 for a, b in zip(first.added, other.added, strict=True)]
    told = float(sum(np.sum(slope * one) for slope, one in zip(slopes, steps, strict=True)))
    most = float(step * np.sqrt(sum(np.sum(slope**2) for slope in slopes)))
    seen = other.value - first.value
    if 0.01 * most <= 16 * max(first.rounding, other.rounding):
        return None
    error = abs(seen - told) / max(abs(seen), abs(told), 0.1 * most)
    return error if np.isfinite(error) else 1.0
