"""Scenarios of ch05_autograd_engine: expressions and programs that use the submission's Tensor.

Code is text, as a learner could type it into a cell: `h = a * b`. Its leaves are tensors that require a gradient.
A submission may have a tape of its own, without `record` and `edges`: then gradients are those of its `backward`.
"""

from __future__ import annotations

import ast
import gc
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np


def has_its_own_tape(submission: Any) -> bool:
    """Whether the submission keeps its graph in another way than the notebook proposes."""
    if hasattr(submission, "record"):
        return False
    return not hasattr(submission.Tensor(0.0), "edges")


def walk_edges(
    submission: Any, expression: str, leaves: Mapping[str, Any], g: Any, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The value of an expression, and each leaf's gradient by way of the edges: `backward` is not needed.

    Args:
        given: what else the expression names: numbers, arrays, tuples.

    Returns:
        Also `changed`: the names of the arrays that are no longer what they were.
    """
    arrays = _own({**(given or {}), **leaves})
    tensors = _leaves(submission, {name: arrays[name] for name in leaves})
    upstream = np.array(g)
    with _explained(submission, [expression]):
        y = eval(expression, {**_names(submission), **arrays, **tensors})
    _expect_tensor(submission, y, expression)
    sums: dict[str, Any] = dict.fromkeys(leaves)
    if has_its_own_tape(submission):
        y.backward(upstream)
        sums = {name: _as_floats(submission, tensors[name].grad, expression) for name in leaves}
        y, paths = submission.Tensor(y.data), []
    else:
        paths = [(y, upstream)]
    name_of = {id(tensor): name for name, tensor in tensors.items()}
    while paths:  # one path at a time, each to its leaf: expressions are small
        node, gradient = paths.pop()
        name = name_of.get(id(node))
        if name is not None:
            sums[name] = gradient if sums[name] is None else sums[name] + gradient
            continue
        for parent, vjp in node.edges:
            with _explained(submission, [expression]):
                paths.append((parent, _as_floats(submission, vjp(gradient), expression)))
    changed = [*_changed({**(given or {}), **leaves}, arrays), *_changed({"g": g}, {"g": upstream})]
    return {"value": y.data, **{f"d{name}": gradient for name, gradient in sums.items()}, "changed": changed}


def run(
    submission: Any,
    code: str,
    leaves: Mapping[str, Any],
    ask: Sequence[str],
    given: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the expressions in `ask` are worth after `code` has run; recording is on again in any case.

    Also `changed`: the names of the arrays that are no longer what they were. Where the submission has a tape of its
    own, what is asked about `edges` and `recording` has no answer, and `own_tape` is there.
    """
    own = {"own_tape": True} if has_its_own_tape(submission) else {}
    ask = [expression for expression in ask if not own or not is_of_the_tape(expression)]
    arrays = _own({**(given or {}), **leaves})
    names = {**_names(submission), **arrays, **_leaves(submission, {name: arrays[name] for name in leaves})}
    try:
        with _explained(submission, [code, *ask]), _no_collection():
            exec(code, names)
            answers = {expression: eval(expression, names) for expression in ask}
        return {**answers, "changed": _changed({**(given or {}), **leaves}, arrays), **own}
    finally:
        submission.Tensor.recording = True


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which would look through 50,000 live tensors again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def is_of_the_tape(expression: str) -> bool:
    """Whether an expression asks for what only the notebook's own tape has."""
    return "edges" in expression or "recording" in expression


def vjp_calls(submission: Any, rungs: int) -> list[int]:
    """How often each VJP of a ladder is called by one backward pass: each rung uses the one below it twice."""
    calls = [0] * (2 * rungs)

    def counting(number: int) -> Any:
        def vjp(g: Any) -> Any:
            calls[number] += 1
            return 0.5 * g

        return vjp

    y = submission.Tensor(np.ones(1), requires_grad=True)
    for rung in range(rungs):
        y = submission.record(y.data + 1.0, (y, counting(2 * rung)), (y, counting(2 * rung + 1)))
    y.backward()
    return calls


def alive(submission: Any, operations: int) -> dict[str, int]:
    """How many arrays and VJPs of a chain are alive: before a backward pass, at the lower end of it, and after it.

    The result is held all the while. At the lower end, the pass has come to the first of the operations.
    """
    arrays: list[Any] = []
    vjps: list[Any] = []
    counts: dict[str, int] = {}

    def count(when: str) -> None:
        if f"arrays {when}" not in counts:
            gc.collect()
            counts[f"arrays {when}"] = sum(array() is not None for array in arrays)
            counts[f"vjps {when}"] = sum(vjp() is not None for vjp in vjps)

    def probe(g: Any) -> Any:
        count("at the lower end")
        return g

    own = has_its_own_tape(submission)
    x = submission.Tensor(np.full(3, 0.5), requires_grad=True)
    y = x + 0.0 if own else submission.record(x.data + 0.0, (x, probe))
    for _ in range(operations):
        y = (y * y).tanh()
        arrays.append(weakref.ref(y.data))
        if not own:
            vjps.append(weakref.ref(y.edges[0][1]))
    y = y.sum()
    count("before")
    y.backward()
    count("after")
    if own:  # nothing can be put into its walk
        count("at the lower end")
    return counts


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


SYMBOLS: dict[type, tuple[str, str]] = {
    ast.Add: ("+", "__add__"),
    ast.Sub: ("-", "__sub__"),
    ast.Mult: ("*", "__mul__"),
    ast.Div: ("/", "__truediv__"),
    ast.Pow: ("**", "__pow__"),
    ast.MatMult: ("@", "__matmul__"),
    ast.USub: ("-", "__neg__"),
}
METHODS: tuple[str, ...] = ("sum", "mean", "exp", "log", "relu", "tanh", "reshape", "transpose", "T")
METHODS += ("backward", "detach", "register_hook")


@contextmanager
def _explained(submission: Any, code: Sequence[str]) -> Iterator[None]:
    """Say of an error in what `code` does how it came about, where that can be told."""
    try:
        yield
    except (TypeError, AttributeError) as error:
        lacking = _lacking(submission, code, error)
        if lacking:
            raise type(error)(
                f"Tensor has no `{lacking}`: the cells below the class attach operators and methods to it. Run "
                "them, and run them again whenever the class cell was run"
            ) from None
        if isinstance(error, AttributeError) and isinstance(error.obj, int | float | np.ndarray):
            what = "an array" if isinstance(error.obj, np.ndarray) else "a number"
            told = f"{error}: this operand is {what}, not a Tensor yet. Call lift first: a, b = lift(a, b)"
            raise AttributeError(told).with_traceback(error.__traceback__) from None
        raise


def _lacking(submission: Any, code: Sequence[str], error: Exception) -> str:
    """An operator or method that the code uses and the class lacks; empty if it has all of them."""
    tensor = submission.Tensor
    used = [name for name in METHODS if isinstance(error, AttributeError) and error.name == name]
    for node in (node for part in code for node in ast.walk(ast.parse(part))):
        if isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in SYMBOLS:
            symbol, method = SYMBOLS[type(node.op)]
            if not hasattr(tensor, method):
                return symbol
        elif isinstance(node, ast.Subscript) and "not subscriptable" in str(error):
            used.append("__getitem__")
        elif isinstance(node, ast.Attribute) and node.attr in METHODS:
            used.append(node.attr)
    return next((name for name in used if not hasattr(tensor, name)), "").replace("__getitem__", "[]")


def _own(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with copies of the arrays, for the submission to do with as it likes."""
    return {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The names of the arrays that differ."""
    arrays = {name: value for name, value in before.items() if isinstance(value, np.ndarray)}
    return [name for name, value in arrays.items() if value.tobytes() != after[name].tobytes()]


def _names(submission: Any) -> dict[str, Any]:
    """What code may name: NumPy and what the lesson has defined."""
    defined = {name: getattr(submission, name, None) for name in ("Tensor", "record", "no_grad")}
    return {"np": np, **{name: value for name, value in defined.items() if value is not None}}


def _leaves(submission: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """A tensor that requires a gradient for each array, which it may share."""
    return {name: submission.Tensor(array, requires_grad=True) for name, array in arrays.items()}


def _expect_tensor(submission: Any, y: Any, expression: str) -> None:
    if not isinstance(submission.Tensor, type) or not isinstance(y, submission.Tensor):
        raise TypeError(f"{expression} is of the type {type(y).__name__}, not a Tensor")


def _as_floats(submission: Any, gradient: Any, expression: str) -> Any:
    """A VJP's answer in float64; `TypeError` if it is no array."""
    if isinstance(gradient, submission.Tensor):
        raise TypeError(f"a vjp of {expression} returned a Tensor: compute with arrays, .data, where gradients flow")
    if not isinstance(gradient, np.ndarray | np.generic | int | float):
        raise TypeError(f"a vjp of {expression} returned something of the type {type(gradient).__name__}, no array")
    return np.asarray(gradient, dtype=np.float64)
