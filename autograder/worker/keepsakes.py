"""Detects objects left by a call that could repeat its work later: functions, context managers, recorded operations.

One exercise may call a function that another exercise of its lesson forbids. Numbers that it returns do not help the
other, but an object that works does: `torch.func.hessian(f)`, `save_on_cpu()`, or a graph of the function's operations
that the submission recorded.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

_PLAIN = (type(None), bool, int, float, str)
_DEPTH = 3
"""How deeply tuples, lists and dictionaries of tensors may be nested and still count as data."""


class Keepsakes:
    """Tells whether a call left a usable object. Create it before the first cell: it records our own modes."""

    def __init__(self) -> None:
        self._torch = sys.modules.get("torch")
        modes = getattr(sys.modules.get("torch.utils._python_dispatch"), "TorchDispatchMode", None)
        self._ours = {cls for cls in _subclasses(modes) if cls.__module__.startswith("course.") or _of_scenarios(cls)}
        """Dispatch modes of our own instruments and scenarios."""
        self._tensors = set() if self._torch is None else {self._torch.Tensor, *_subclasses(self._torch.Tensor)}
        """The classes of tensors that were there before the submission."""

    def left_by(self, result: Any) -> Callable[[], bool] | None:
        """A function that tells whether the object left by a call is still usable; None if the call left only data.

        The object is the `result`, or its operations if a mode or class of the submission could record them.
        """
        if not self._is_data(result, _DEPTH) or self._somebody_watches():
            return lambda: True
        return None

    def left_as(self, made: Any) -> Callable[[], bool]:
        """A function that tells whether an object made by a call, or one of its attributes, is still alive."""
        parts = [part for part in getattr(made, "__dict__", {}).values() if not self._is_data(part, _DEPTH)]
        try:
            references = [weakref.ref(one) for one in (made, *parts)]
        except TypeError:  # its class has no weak references
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
        """Whether the submission can observe operations: by a dispatch mode, a transformation or a tensor subclass."""
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
            or not all(map(self._tensors.issuperset, map(type.__subclasses__, self._tensors)))
        )


def _subclasses(cls: Any) -> Iterator[Any]:
    """All direct and indirect subclasses."""
    for one in type.__subclasses__(cls) if cls is not None else ():
        yield one
        yield from _subclasses(one)


def _of_scenarios(cls: type) -> bool:
    return cls.__module__ == "builtins"
