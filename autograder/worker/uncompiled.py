"""PyTorch without its compiler, until somebody asks for that.

Optimizers and checkpoints tell `torch._dynamo` that they are not to be compiled, and to do so they import all of it: a
second and a half in each process that takes a step. A backward pass from a given g compares two shapes by a module that
can do so for symbols, and that imports SymPy: half a second. Here nothing is compiled, and sizes are numbers.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"
SHAPES = "torch.fx.experimental.symbolic_shapes"


class _Uncompiled(ModuleType):
    """Stands for the compiler until more is asked of it than not to compile: then it is imported, whole."""

    @staticmethod
    def graph_break(msg: str = "") -> None:
        """Nothing to break."""

    @staticmethod
    def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, **_: Any) -> Callable[..., Any]:
        """`fn`: as it is, it is not compiled; without one, a decorator that gives what it gets."""
        return fn if fn is not None else lambda function: function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # who looks through all modules asks for these
            raise AttributeError(f"module {COMPILER!r} has no attribute {name!r}")
        if name == "config":  # a checkpoint reads a setting
            return _config()
        if name in IDLE:
            return _Idle(name)
        return getattr(_whole(self), name)


PLAIN: dict[str, Callable[..., Any]] = {"expect_true": lambda a: a, "sym_eq": lambda x, y: tuple(x) == tuple(y)}
"""What a backward pass asks about the shape of g, and the answer where sizes are numbers."""


class _PlainShapes(ModuleType):
    """Stands for what reasons about sizes that are symbols, until it is given one, or asked for more."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {SHAPES!r} has no attribute {name!r}")
        if name not in PLAIN:
            return getattr(_whole(self), name)

        def answer(*values: Any, **more: Any) -> Any:
            plain = not more and all(map(_plain, values))
            return (PLAIN[name] if plain else getattr(_whole(self), name))(*values, **more)

        return answer


def _plain(value: Any) -> bool:
    """Whether this is a shape of numbers, or what comes of comparing some."""
    return type(value) is bool or (isinstance(value, tuple | list) and all(type(size) is int for size in value))


def _whole(stand_in: ModuleType) -> ModuleType:
    """The module that something stands for, instead of it from now on."""
    import_whole(stand_in.__name__)
    return sys.modules[stand_in.__name__]


def import_whole(name: str) -> None:
    """Import a module, whatever stands for it."""
    if not is_whole(name):
        sys.modules.pop(name, None)
        importlib.import_module(name)


def is_whole(name: str) -> bool:
    """Whether this module is imported, and not just stood for."""
    return getattr(sys.modules.get(name), "__file__", None) is not None


IDLE: dict[str, dict[str, Callable[[], Any]]] = {
    "compiled_autograd": {"_disable": nullcontext},
    "trace_rules": {"clear_lru_cache": lambda: None},
}
"""Parts of the compiler, with what is asked of them where nothing is compiled: by `torch.func`, by process groups."""


class _Idle:
    """Stands for a part of the compiler, until more is asked of it."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return IDLE[self._part].get(name) or getattr(importlib.import_module(f"{COMPILER}.{self._part}"), name)


def without_compiler() -> None:
    """Let the imports of what compiles cost nothing in this process as long as nothing is; before PyTorch is used.

    Whatever else is asked of these modules, by fake tensors, say, imports them as ever.
    """
    sys.modules.setdefault(COMPILER, _Uncompiled(COMPILER))
    sys.modules.setdefault(SHAPES, _PlainShapes(SHAPES))


def _config() -> ModuleType:
    """The compiler's settings, a module by itself."""
    name = f"{COMPILER}.config"
    if name not in sys.modules:
        torch = sys.modules["torch"]
        file = Path(torch.__file__ or "").parent / "_dynamo" / "config.py"
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
