"""Runs a program and records the inputs and result of each operation, for engines whose results have no `edges`.

It relies on names from the contract of chapter 5: the class's operators and methods, and `requires_grad`.
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
"""Attributes of the class, and the names of their operations."""


class Watched:
    """A program's result, its operations, and the names of its variables."""

    def __init__(self) -> None:
        self.result: Any = None
        self.made: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}
        """For each result, by its id: the result, and a pair (parent, name of the operation) for each parent."""
        self.names: dict[int, str] = {}

    def pairs(self, tensor: Any) -> list[tuple[Any, Any]]:
        """The pairs of a tensor, which replace its edges."""
        return self.made.get(id(tensor), (None, []))[1]


def watch(program: Callable[..., Any], tensors: Mapping[str, Any]) -> Watched:
    """Run `program` with these keyword arguments. `TypeError` if none of them is a tensor of an engine."""
    watched = Watched()
    kind = next((type(one) for one in tensors.values() if hasattr(one, "requires_grad")), None)
    if kind is None:
        raise TypeError(f"picture(program, x=...) needs the program's tensors by name, and got {sorted(tensors)}")
    with _recording_operations(kind, watched), _recording_names(program, kind, watched):
        watched.result = program(**tensors)
    return watched


@contextmanager
def _recording_operations(kind: type, watched: Watched) -> Iterator[None]:
    """Record the calls of the class's operations; calls from inside another operation are left out."""
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
def _recording_names(program: Callable[..., Any], kind: type, watched: Watched) -> Iterator[None]:
    """Record the names of the program's local variables that are tensors when it returns."""
    code, before = getattr(program, "__code__", None), sys.getprofile()

    def returned(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            watched.names |= {id(one): name for name, one in frame.f_locals.items() if isinstance(one, kind)}

    sys.setprofile(returned)
    try:
        yield
    finally:
        sys.setprofile(before)
