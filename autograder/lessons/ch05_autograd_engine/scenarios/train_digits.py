"""Scenarios of train_digits."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch05_autograd_engine.scenarios.engine import (
    _as_floats,
    _explained,
    _leaves,
    _own,
    has_its_own_tape,
)


def with_gradients_of_another(
    submission: Any, X: Any, y: Any, others: tuple[Any, Any], X_test: Any, seed: int, sample: Mapping[str, Any]
) -> dict[str, Any]:
    """What `train_digits` reads after a training on noise, with the gradients of one on digits in place of its own.

    First it is trained on X and y, and what each pass leaves in the grads is noted. Then on `others`, with labels that
    say nothing. There each pass leaves what was noted, and passes that were not noted leave zeros.

    Args:
        sample: arrays x, W, b and V: their gradients are taken amid the first training, with the engine as it is then.

    Returns:
        How often the first training called `Tensor.backward`, the `labels` of the second, the gradients of the sample.
    """
    original = submission.Tensor.backward
    own_tape = has_its_own_tape(submission)
    noted: list[list[Any]] = []
    gradients: dict[str, Any] = {}
    calls = size = 0

    def after(self: Any, args: Any, kwargs: Any) -> tuple[Any, list[Any]]:
        """One pass; what it returns, and its leaves in an order that a second training has, too."""
        leaves = [] if own_tape else _leaves_below(self)
        result = original(self, *args, **kwargs)
        if own_tape:  # which does not say what a result was computed from
            leaves = _leaves_with_grads(submission)
        return result, leaves

    def noting(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal calls, size
        result, leaves = after(self, args, kwargs)
        calls += 1
        if calls == 2:
            gradients.update(_gradients_of(submission, original, sample))
        size += sum(leaf.data.nbytes for leaf in leaves)
        if size < NOTED_BYTES:
            noted.append([np.array(leaf.grad) for leaf in leaves])
        return result

    def replacing(self: Any, *args: Any, **kwargs: Any) -> Any:
        result, leaves = after(self, args, kwargs)
        grads = noted.pop(0) if noted else []
        fits = [grad.shape for grad in grads] == [leaf.data.shape for leaf in leaves]
        for number, leaf in enumerate(leaves):
            leaf.grad = grads[number] if fits else np.zeros_like(leaf.data)
        return result

    try:
        submission.Tensor.backward = noting
        submission.train_digits(X, y, X_test, seed)
        submission.Tensor.backward = replacing
        labels = submission.train_digits(*others, X_test, seed)
    finally:
        submission.Tensor.backward = original
    return {"calls": calls, "labels": labels, **gradients}


NOTED_BYTES = 2**27
"""Of gradients that are kept for a second training: some thousand passes of a usual network."""


def grads_move_the_loss(submission: Any, X: Any, y: Any, X_test: Any, seed: int) -> bool:
    """Whether what a pass of `train_digits` adds to the grads depends on what the passes before left there.

    It does wherever parameters are moved by their grads. It is trained twice, the second time with grads of the other
    sign, and that training ends with the first pass that adds something else.
    """
    original = submission.Tensor.backward
    own_tape = has_its_own_tape(submission)
    noted: list[list[float]] = []

    def added(self: Any, args: Any, kwargs: Any) -> tuple[Any, list[Any], list[float]]:
        """One pass: what it returns, its leaves, and a number for what it adds to the grad of each."""
        leaves = _leaves_with_grads(submission) if own_tape else _leaves_below(self)
        before = {id(leaf): 0.0 if leaf.grad is None else np.array(leaf.grad) for leaf in leaves}
        result = original(self, *args, **kwargs)
        if own_tape:
            leaves = _leaves_with_grads(submission)
        return result, leaves, [_in_one(leaf.grad - before.get(id(leaf), 0.0)) for leaf in leaves if _has_grad(leaf)]

    def noting(self: Any, *args: Any, **kwargs: Any) -> Any:
        result, _, numbers = added(self, args, kwargs)
        noted.append(numbers)
        return result

    def negating(self: Any, *args: Any, **kwargs: Any) -> Any:
        result, leaves, numbers = added(self, args, kwargs)
        first = noted.pop(0) if noted else []
        if len(numbers) != len(first) or not np.allclose(numbers, first, rtol=1e-6, atol=1e-9):
            raise _Moved
        for leaf in leaves:
            if _has_grad(leaf):
                leaf.grad = -leaf.grad
        return result

    try:
        submission.Tensor.backward = noting
        submission.train_digits(X, y, X_test, seed)
        submission.Tensor.backward = negating
        submission.train_digits(X, y, X_test, seed)
    except _Moved:
        return True
    finally:
        submission.Tensor.backward = original
    return False


class _Moved(BaseException):
    """Ends a training that has shown what was asked; no handler of exceptions in it takes this for an error."""


def _in_one(array: Any) -> float:
    """A number that differs for arrays that differ."""
    array = np.ravel(array)
    return float(array @ np.cos(np.arange(array.size)))


def _leaves_with_grads(submission: Any) -> list[Any]:
    """All tensors alive that have a grad, in an order that another training has, too."""
    leaves = [one for one in gc.get_objects() if isinstance(one, submission.Tensor) and _has_grad(one)]
    return sorted(leaves, key=lambda leaf: (leaf.data.shape, leaf.data.tobytes()))


def _gradients_of(submission: Any, backward: Any, sample: Mapping[str, Any]) -> dict[str, Any]:
    """Gradients of (x W + b) V, which is one number: what every network needs of its engine."""
    leaves = _leaves(submission, _own({name: sample[name] for name in ("W", "b", "V")}))
    expression = "(x @ W + b) @ V"
    with _explained(submission, [expression]):
        y = eval(expression, {"x": submission.Tensor(np.array(sample["x"])), **leaves})
        backward(y)
    return {f"d{name}": _as_floats(submission, leaf.grad, expression) for name, leaf in leaves.items()}


def _has_grad(tensor: Any) -> bool:
    return getattr(tensor, "grad", None) is not None


def grads_never_reset(submission: Any, X: Any, y: Any, X_test: Any, seed: int) -> bool:
    """Whether `train_digits` begins every pass but the first with the very grads that the pass before left.

    Grads that are gathered over a few passes, and grads that decay, are no such thing.
    """
    original = submission.Tensor.backward
    left: dict[int, tuple[Any, Any]] = {}
    passes = stale = 0

    def watching(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal passes, stale
        leaves = _leaves_below(self)
        passes += 1
        stale += any(
            leaf.grad is not None
            and id(leaf) in left
            and np.any(leaf.grad)
            and np.array_equal(leaf.grad, left[id(leaf)][1])
            for leaf in leaves
        )
        result = original(self, *args, **kwargs)
        left.update({id(leaf): (leaf, None if leaf.grad is None else np.array(leaf.grad)) for leaf in leaves})
        return result

    submission.Tensor.backward = watching
    try:
        submission.train_digits(X, y, X_test, seed)
    finally:
        submission.Tensor.backward = original
    return passes > 2 and stale == passes - 1


def _leaves_below(root: Any) -> list[Any]:
    """The leaves that a result was computed from and that require a gradient."""
    leaves, seen, stack = [], {id(root)}, [root] if hasattr(root, "edges") else []
    while stack:
        node = stack.pop()
        if not node.edges and node.requires_grad:
            leaves.append(node)
        for parent, _ in node.edges or ():
            if id(parent) not in seen:
                seen.add(id(parent))
                stack.append(parent)
    return leaves
