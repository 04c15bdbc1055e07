"""Code that uses the submission's Tensor.

The code is text, as a learner could type it into a cell: `h = a * b`. Its leaves are tensors that require a gradient.
A submission may have its own kind of tape, without `record` and `edges`: then its `backward` computes the gradients.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.worker.layout import laid_out


def has_its_own_tape(submission: Any) -> bool:
    """Whether the submission stores its graph in another way than the notebook proposes."""
    if hasattr(submission, "record"):
        return False
    return not hasattr(submission.Tensor(0.0), "edges")


def run(
    submission: Any,
    code: str,
    leaves: Mapping[str, Any],
    ask: Sequence[str],
    given: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The values of the expressions in `ask` after `code` has run; recording is switched on again in any case.

    Also `changed`: the names of the arrays that were modified. If the submission has its own tape, expressions about
    `edges` and `recording` have no answer, and the key `own_tape` is set.
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
    """Disable the garbage collector, which would traverse 50,000 live tensors again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def is_of_the_tape(expression: str) -> bool:
    """Whether an expression uses names that only the notebook's tape has."""
    return "edges" in expression or "recording" in expression


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
    """Add a likely cause to an error raised by `code`, if there is one."""
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
    """The values with copies of the arrays, so that the submission can modify them."""
    return {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _in_layouts(values: Mapping[str, Any], states: Mapping[str, str]) -> dict[str, Any]:
    """Copies of arrays that lie in memory as `states` says."""
    return {name: laid_out(np.array(array, order="C"), states[f"{name} layout"]) for name, array in values.items()}


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The names of the arrays that differ."""
    arrays = {name: value for name, value in before.items() if isinstance(value, np.ndarray)}
    return [name for name, value in arrays.items() if value.tobytes() != after[name].tobytes()]


def _names(submission: Any) -> dict[str, Any]:
    """The names that code may use: NumPy and the lesson's definitions."""
    defined = {name: getattr(submission, name, None) for name in ("Tensor", "record", "no_grad", "concatenate")}
    return {"np": np, **{name: value for name, value in defined.items() if value is not None}}


def _leaves(submission: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """For each array a tensor that requires a gradient and may share the array's memory."""
    return {name: submission.Tensor(array, requires_grad=True) for name, array in arrays.items()}


def _as_floats(submission: Any, gradient: Any, expression: str) -> Any:
    """A VJP's result in float64. Raises `TypeError` if it is not an array."""
    if isinstance(gradient, submission.Tensor):
        raise TypeError(f"a vjp of {expression} returned a Tensor: compute with arrays, .data, where gradients flow")
    if not isinstance(gradient, np.ndarray | np.generic | int | float):
        raise TypeError(f"a vjp of {expression} returned something of the type {type(gradient).__name__}, no array")
    return np.asarray(gradient, dtype=np.float64)
