"""Routes calls of autograd nodes, `y.grad_fn(g)`, through Python, where the guard can refuse them.

Calling a node does part of a backward pass without PyTorch's engine.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

_TP_CALL = 50
"""Python's slot number of `tp_call`, for `PyType_GetSlot`."""
_PLACE = 128
"""Offset of `tp_call` in a class, in bytes, in 64-bit builds of Python."""

HARMLESS = ("UndefinedGrad", "DelayedError")
"""Nodes that compute nothing; PyTorch's own `once_differentiable` and `gradcheck` make and call them."""


def call_through_python(ctypes: Any) -> None:
    """Make a call of any node run `torch.autograd.graph.Node.__call__`.

    Does nothing if this build of Python has another class layout.
    """
    torch = sys.modules["torch"]
    slot, modified = ctypes.pythonapi.PyType_GetSlot, ctypes.pythonapi.PyType_Modified
    slot.argtypes, slot.restype = (ctypes.py_object, ctypes.c_int), ctypes.c_void_p
    modified.argtypes, modified.restype = (ctypes.py_object,), None
    originals: dict[type, Any] = {}

    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return originals[type(self)](self, *args, **kwargs)

    class Called:
        __call__ = call

    by_name = slot(Called, _TP_CALL)  # looks `__call__` up
    for name, cls in vars(torch._C._functions).items():
        if name not in HARMLESS and isinstance(cls, type) and "__call__" in vars(cls):
            place = ctypes.c_void_p.from_address(id(cls) + _PLACE)
            if place.value != slot(cls, _TP_CALL):
                return
            originals[cls] = vars(cls)["__call__"]
            gc.get_referents(vars(cls))[0]["__call__"] = call
            place.value = by_name
            modified(cls)
    torch.autograd.graph.Node.__call__ = call
