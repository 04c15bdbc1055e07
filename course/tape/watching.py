"""Runs a program and writes down what each of its operations took and made, for engines with a tape of their own.

It asks for what the contract of chapter 5 names: operators and methods of the class, and `requires_grad`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any

_OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul")
_METHODS = ("sum", "mean", "exp", "log", "relu", "tanh", "reshape", "transpose")
OPERATIONS = {
    **{f"__{side}{name}__": name for name in _OPERATORS for side in ("", "r")},
    **{name: name for name in _METHODS},
    "__neg__": "neg",
    "__getitem__": "getitem",
    "T": "transpose",
}
"""Attributes of the class, and what their results are called."""


class Watched:
    """What a program has made: its result, the operations, and the names that its tensors have in it."""

    def __init__(self) -> None:
        self.result: Any = None
        self.made: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}
        """By the id of a result: the result, and pairs of a parent and the operation's name."""
        self.names: dict[int, str] = {}

    def pairs(self, tensor: Any) -> list[tuple[Any, Any]]:
        """In the place of a tensor's edges."""
        return self.made.get(id(tensor), (None, []))[1]


def watch(program: Callable[..., Any], tensors: Mapping[str, Any]) -> Watched:
    """Run `program` with these keyword arguments, one of which is a tensor of the engine."""
    watched = Watched()
    kind = next((type(one) for one in tensors.values() if hasattr(one, "requires_grad")), None)
    if kind is None:
        raise TypeError(f"picture(program, x=...) needs the program's tensors by name, and got {sorted(tensors)}")
    with _noting(kind, watched), _naming(program, kind, watched):
        watched.result = program(**tensors)
    return watched


@contextmanager
def _noting(kind: type, watched: Watched) -> Iterator[None]:
    """Let the class's operations note what they take and make. One that calls others is one operation."""
    inside = [0]
    own = {name: vars(kind)[name] for name in OPERATIONS if name in vars(kind)}

    def noted(method: Callable[..., Any], operation: str) -> Callable[..., Any]:
        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            inside[0] += 1
            try:
                result = method(*args, **kwargs)
            finally:
                inside[0] -= 1
            parents = [one for one in args if isinstance(one, kind) and getattr(one, "requires_grad", False)]
            known = not isinstance(result, kind) or any(result is one for one in args) or id(result) in watched.made
            if not inside[0] and not known and parents and getattr(result, "requires_grad", False):
                watched.made[id(result)] = (result, [(parent, operation) for parent in parents])
            return result

        return call

    try:
        for name, method in own.items():
            if isinstance(method, property) and method.fget:
                setattr(kind, name, property(noted(method.fget, OPERATIONS[name])))
            elif callable(method):
                setattr(kind, name, noted(method, OPERATIONS[name]))
        yield
    finally:
        for name, method in own.items():
            setattr(kind, name, method)


@contextmanager
def _naming(program: Callable[..., Any], kind: type, watched: Watched) -> Iterator[None]:
    """Take the names that the program's own variables give tensors, when it returns."""
    code, before = getattr(program, "__code__", None), sys.getprofile()

    def returned(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            watched.names |= {id(one): name for name, one in frame.f_locals.items() if isinstance(one, kind)}

    sys.setprofile(returned)
    try:
        yield
    finally:
        sys.setprofile(before)
