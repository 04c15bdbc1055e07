"""Scenarios of train_digits."""

from __future__ import annotations

import contextlib
import gc
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch05_autograd_engine.scenarios.engine import (
    _as_floats,
    _explained,
    _leaves,
    _own,
    has_its_own_tape,
)


def noted_gradients(
    submission: Any, X: Any, y: Any, X_test: Any, seed: int, sample: Mapping[str, Any]
) -> dict[str, Any]:
    """Record the grads after each backward pass of a training, for `with_gradients_of_another`.

    Args:
        sample: arrays x, W, b and V, whose gradients are computed during the training, with the engine as it is then.

    Returns:
        The number of calls to `Tensor.backward` (`calls`); the grads of all passes in one flat array (`grads`), the
        distinct lists of shapes (`layouts`) and each pass's index into them (`passes`); the gradients of the sample.
    """
    original = submission.Tensor.backward
    own_tape = _has_its_own_tape(submission)
    gradients: dict[str, Any] = {}
    noted: list[Any] = []
    passes: list[int] = []
    layouts: dict[tuple[tuple[int, ...], ...], int] = {}
    calls = size = shapes = 0

    def noting(self: Any, args: Any, kwargs: Any) -> Any:
        nonlocal calls, size, shapes
        result, leaves = _one_pass(submission, original, own_tape, self, args, kwargs)
        calls += 1
        if calls == 2:
            gradients.update(_gradients_of(submission, original, sample))
        grads = [_grad(leaf) for leaf in leaves]
        layout = tuple(grad.shape for grad in grads)
        size += sum(grad.size for grad in grads)
        shapes += 0 if layout in layouts else 1 + sum(1 + len(shape) for shape in layout)
        if size <= NOTED_NUMBERS and shapes <= NOTED_SHAPES:
            passes.append(layouts.setdefault(layout, len(layouts)))
            noted.extend(grad.astype(np.float32).ravel() for grad in grads)
        return result

    try:
        submission.Tensor.backward = _outermost(original, noting)
        submission.train_digits(X, y, X_test, seed)
    finally:
        submission.Tensor.backward = original
    return {
        "calls": calls,
        "grads": np.concatenate([np.empty(0, np.float32), *noted]),
        "passes": np.array(passes, dtype=np.int64),
        "layouts": list(layouts),
        **gradients,
    }


NOTED_NUMBERS = 7 * 2**18
"""Maximum number of recorded gradient entries: 7 MiB of the 8 that an answer may have, 380 passes of the usual
network."""
NOTED_SHAPES = 4_000
"""Maximum number of integers in the recorded shapes."""


def with_gradients_of_another(
    submission: Any, X: Any, y: Any, X_test: Any, seed: int, moves: Any, grads: Any, passes: Any, layouts: Any
) -> Any:
    """The labels of X_test after a training on X and y in which each pass's grads are replaced by another training's.

    Passes that were not recorded get zeros; leaves whose grads have no effect keep theirs. Run it in a process that did
    not run the other training, so that the submission cannot remember that training's labels.
    """
    original = submission.Tensor.backward
    own_tape = _has_its_own_tape(submission)
    noted = _pass_by_pass(grads, passes, layouts)

    def replacing(self: Any, args: Any, kwargs: Any) -> Any:
        result, leaves = _one_pass(submission, original, own_tape, self, args, kwargs)
        of_another = next(noted, [])
        fits = [grad.shape for grad in of_another] == [np.shape(leaf.data) for leaf in leaves]
        for number, leaf in enumerate(leaves):
            if _apart(number) >= len(moves) or not moves[_apart(number)]:
                continue
            leaf.grad = (of_another[number] if fits else np.zeros(np.shape(leaf.data))).astype(_grad(leaf).dtype)
        return result

    try:
        submission.Tensor.backward = _outermost(original, replacing)
        return submission.train_digits(X, y, X_test, seed)
    finally:
        submission.Tensor.backward = original


def with_random_gradients(submission: Any, X: Any, y: Any, X_test: Any, seed: int, drawn: int) -> Any:
    """The labels of X_test after a training whose grads are replaced by small random numbers, pass by pass."""
    original = submission.Tensor.backward
    own_tape = _has_its_own_tape(submission)
    rng = np.random.default_rng(drawn)

    def replacing(self: Any, args: Any, kwargs: Any) -> Any:
        result, leaves = _one_pass(submission, original, own_tape, self, args, kwargs)
        for leaf in leaves:
            if _has_grad(leaf):
                leaf.grad = (0.01 * rng.normal(size=np.shape(leaf.grad))).astype(_grad(leaf).dtype)
        return result

    try:
        submission.Tensor.backward = _outermost(original, replacing)
        return submission.train_digits(X, y, X_test, seed)
    finally:
        submission.Tensor.backward = original


def _has_its_own_tape(submission: Any) -> bool:
    """Whether the graph cannot be walked; if so, tensors of earlier trainings are gone from `_leaves_with_grads`."""
    own_tape = has_its_own_tape(submission)
    if own_tape:
        gc.collect()
    return own_tape


def _outermost(original: Any, instead: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """A backward that calls `instead`, except within itself, so that a recursive backward counts as one pass."""
    inside = False

    def backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if inside:
            return original(self, *args, **kwargs)
        inside = True
        try:
            return instead(self, args, kwargs)
        finally:
            inside = False

    return backward


def _pass_by_pass(grads: Any, passes: Any, layouts: Any) -> Iterator[list[Any]]:
    """The recorded grads, pass by pass."""
    start = 0
    for number in passes.tolist():
        arrays = []
        for shape in layouts[number]:
            end = start + math.prod(shape)
            arrays.append(grads[start:end].reshape(shape))
            start = end
        yield arrays


def _one_pass(
    submission: Any, backward: Any, own_tape: bool, root: Any, args: Any, kwargs: Any
) -> tuple[Any, list[Any]]:
    """Run one backward pass; return its result, and its leaves in an order that a second training reproduces."""
    leaves = [] if own_tape else _leaves_below(root)
    result = backward(root, *args, **kwargs)
    if own_tape:  # its graph cannot be walked
        leaves = _leaves_with_grads(submission)
    return result, leaves


def _grad(leaf: Any) -> Any:
    """The grad of a leaf; zeros if the leaf has no grad, or a grad that is not numeric."""
    grad = np.asarray(leaf.grad)
    return grad if grad.dtype.kind in "fiub" else np.zeros(np.shape(leaf.data))


def grads_that_move_the_loss(submission: Any, X: Any, y: Any, X_test: Any, seed: int) -> list[bool]:
    """For each leaf of `train_digits`: whether its grads affect what later passes add to the grads.

    They do if its grad moves a parameter. The training is repeated for each leaf, with that leaf's grads negated, and
    ends at the first pass that adds different grads.
    """
    original = submission.Tensor.backward
    own_tape = _has_its_own_tape(submission)
    noted: list[list[float]] = []
    turned = passed = 0

    def added(self: Any, args: Any, kwargs: Any) -> tuple[Any, list[Any], list[float]]:
        """Run one pass; return its result, its leaves, and a fingerprint of what it adds to each leaf's grad."""
        leaves = _leaves_with_grads(submission) if own_tape else _leaves_below(self)
        before = {id(leaf): 0.0 if leaf.grad is None else np.array(leaf.grad) for leaf in leaves}
        result = original(self, *args, **kwargs)
        if own_tape:
            leaves = _leaves_with_grads(submission)
        return result, leaves, [_in_one(leaf.grad - before.get(id(leaf), 0.0)) for leaf in leaves if _has_grad(leaf)]

    def noting(self: Any, args: Any, kwargs: Any) -> Any:
        result, _, numbers = added(self, args, kwargs)
        noted.append(numbers)
        if len(noted) == TRIED_PASSES:
            raise _Enough
        return result

    def turning(self: Any, args: Any, kwargs: Any) -> Any:
        nonlocal passed
        result, leaves, numbers = added(self, args, kwargs)
        if passed == len(noted):
            raise _Enough
        first, passed = noted[passed], passed + 1
        if len(numbers) != len(first) or not np.allclose(numbers, first, rtol=1e-6, atol=1e-9):
            raise _Moved
        for number, leaf in enumerate(leaves):
            if _apart(number) == turned and _has_grad(leaf):
                leaf.grad = -leaf.grad
        return result

    moves = []
    try:
        submission.Tensor.backward = _outermost(original, noting)
        with contextlib.suppress(_Enough):
            submission.train_digits(X, y, X_test, seed)
        submission.Tensor.backward = _outermost(original, turning)
        for turned in range(_apart(max(map(len, noted), default=0) - 1) + 1):  # noqa: B007  # `turning` reads it
            passed = 0
            try:
                submission.train_digits(X, y, X_test, seed)
                moves.append(False)
            except _Enough as ended:
                moves.append(isinstance(ended, _Moved))
    finally:
        submission.Tensor.backward = original
    return moves


TRIED_PASSES = 1_000
"""Number of passes by which every parameter has been moved: four epochs if each digit is a batch."""


def _apart(number: int) -> int:
    """Index into `moves` of leaf `number`; all leaves from the 32nd on share the last one."""
    return min(number, 31)


class _Enough(BaseException):
    """Ends a training. A BaseException, so that `except Exception` in the submission does not catch it."""


class _Moved(_Enough):
    """Ends a training in which the grads had an effect."""


def _in_one(array: Any) -> float:
    """A fingerprint of an array: one number, which differs for different arrays."""
    array = np.ravel(array)
    return float(array @ np.cos(np.arange(array.size)))


def _leaves_with_grads(submission: Any) -> list[Any]:
    """All live tensors that have a grad, in an order that another training reproduces."""
    leaves = [one for one in gc.get_objects() if isinstance(one, submission.Tensor) and _has_grad(one)]
    return sorted(leaves, key=lambda leaf: (leaf.data.shape, _in_one(leaf.data)))  # not bytes: grads are rounded


def _gradients_of(submission: Any, backward: Any, sample: Mapping[str, Any]) -> dict[str, Any]:
    """Gradients of the scalar (x W + b) V, which needs only operations that every network uses."""
    leaves = _leaves(submission, _own({name: sample[name] for name in ("W", "b", "V")}))
    expression = "(x @ W + b) @ V"
    with _explained(submission, [expression]):
        y = eval(expression, {"x": submission.Tensor(np.array(sample["x"])), **leaves})
        backward(y)
    return {f"d{name}": _as_floats(submission, leaf.grad, expression) for name, leaf in leaves.items()}


def _has_grad(tensor: Any) -> bool:
    return getattr(tensor, "grad", None) is not None


def grads_never_reset(submission: Any, X: Any, y: Any, X_test: Any, seed: int) -> bool:
    """Whether every pass of `train_digits` but the first starts with exactly the grads that the previous pass left.

    False for grads that are accumulated over a few passes, or that decay.
    """
    original = submission.Tensor.backward
    left: dict[int, tuple[Any, Any]] = {}
    passes = stale = 0

    def watching(self: Any, args: Any, kwargs: Any) -> Any:
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

    submission.Tensor.backward = _outermost(original, watching)
    try:
        submission.train_digits(X, y, X_test, seed)
    finally:
        submission.Tensor.backward = original
    return passes > 2 and stale == passes - 1


def _leaves_below(root: Any) -> list[Any]:
    """The leaves behind a result that require a gradient."""
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
