"""What a call leaves behind that could do the same work later: a function, a block to enter, a program written down.

An exercise may call what another of its lesson may not. The numbers that it gets are of no use to the other. What is
of use is a thing that works: `torch.func.hessian(f)`, `save_on_cpu()`, or a graph of operations that somebody noted
while the function computed, a gradient or anything else.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

_PLAIN = (type(None), bool, int, float, str)
_DEPTH = 3
"""So deep may tensors lie in tuples, lists and dictionaries."""


class Keepsakes:
    """Tells whether a call may have left something behind. Made before the first cell: it knows who watches for us."""

    def __init__(self) -> None:
        self._torch = sys.modules.get("torch")
        modes = getattr(sys.modules.get("torch.utils._python_dispatch"), "TorchDispatchMode", None)
        self._ours = {cls for cls in _below(modes) if cls.__module__.startswith("course.") or _of_scenarios(cls)}
        """Modes that measure."""
        self._tensors = set() if self._torch is None else set(_below(self._torch.Tensor))

    def left_by(self, result: Any) -> Callable[[], bool] | None:
        """Whether what a call left can still be used; None where it left nothing but data.

        It is its `result`, or its operations, where they were shown to somebody who may have noted them.
        """
        if not self._is_data(result, _DEPTH) or self._somebody_watches():
            return lambda: True
        return None

    def left_as(self, made: Any) -> Callable[[], bool]:
        """Whether an object that a call has made, or something that it holds, is still there."""
        parts = [part for part in getattr(made, "__dict__", {}).values() if not self._is_data(part, _DEPTH)]
        try:
            references = [weakref.ref(one) for one in (made, *parts)]
        except TypeError:  # of a class that nobody can refer to in this way
            return lambda: True
        return lambda: any(one() is not None for one in references)

    def _is_data(self, value: Any, depth: int) -> bool:
        kind = type(value)
        if kind in _PLAIN:
            return True
        if self._torch is not None and kind in (self._torch.Tensor, self._torch.nn.Parameter):
            return True
        if depth and kind in (tuple, list):
            return all(self._is_data(item, depth - 1) for item in value)
        return bool(depth) and kind is dict and all(self._is_data(item, depth - 1) for item in value.values())

    def _somebody_watches(self) -> bool:
        """Whether operations are shown to somebody but us: a mode of dispatch, a transformation, a class of tensors."""
        torch = self._torch
        if torch is None:
            return False
        depth = torch._C._len_torch_dispatch_stack()
        return (
            (depth > 0 and any(type(torch._C._get_dispatch_stack_at(i)) not in self._ours for i in range(depth)))
            or torch._C._len_torch_function_stack() > 0
            or torch._C._dispatch_tls_is_dispatch_key_included(torch._C.DispatchKey.PythonDispatcher)
            or torch._C._functorch.peek_interpreter_stack() is not None
            or torch._C._get_tracing_state() is not None
            or any(cls not in self._tensors for cls in _below(torch.Tensor))
        )


def _below(cls: Any) -> Iterator[Any]:
    """The classes that derive from a class."""
    for one in type.__subclasses__(cls) if cls is not None else ():
        yield one
        yield from _below(one)


def _of_scenarios(cls: type) -> bool:
    return cls.__module__ == "builtins"
