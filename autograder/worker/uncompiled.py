"""Postpones the import of PyTorch's compiler until it is used.

Optimizers and checkpoints import all of `torch._dynamo`, only to say that they are not to be compiled: 1.5 s in each
process that takes a step. A backward pass from a given g compares two shapes with a module for symbolic sizes, which
imports SymPy: 0.5 s. Workers compile nothing, and their sizes are plain integers.
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
    """Replaces the compiler until code uses more than `disable` and the like; then the real one is imported."""

    @staticmethod
    def graph_break(msg: str = "") -> None:
        """Do nothing: no graph is compiled."""

    @staticmethod
    def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, **_: Any) -> Callable[..., Any]:
        """Return `fn` unchanged; without one, return a decorator that does."""
        return fn if fn is not None else lambda function: function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # code that scans all modules reads these
            raise AttributeError(f"module {COMPILER!r} has no attribute {name!r}")
        if name == "config":  # checkpoints read a setting
            return _config()
        if name in IDLE:
            return _Idle(name)
        return getattr(_whole(self), name)


PLAIN: dict[str, Callable[..., Any]] = {"expect_true": lambda a: a, "sym_eq": lambda x, y: tuple(x) == tuple(y)}
"""The functions that a backward pass applies to the shape of g, for plain integers."""


class _PlainShapes(ModuleType):
    """Replaces the module for symbolic sizes until it is given a symbol, or another function is used."""

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
    """Whether a value is a shape of integers, or the bool that comparing two shapes gives."""
    return type(value) is bool or (isinstance(value, tuple | list) and all(type(size) is int for size in value))


def _whole(stand_in: ModuleType) -> ModuleType:
    """Import the module that `stand_in` replaces, put it in its place, and return it."""
    import_whole(stand_in.__name__)
    return sys.modules[stand_in.__name__]


def import_whole(name: str) -> None:
    """Import the real module, replacing its stand-in if it has one."""
    if not is_whole(name):
        sys.modules.pop(name, None)
        importlib.import_module(name)


def is_whole(name: str) -> bool:
    """Whether the real module is imported, not just its stand-in."""
    return getattr(sys.modules.get(name), "__file__", None) is not None


IDLE: dict[str, dict[str, Callable[[], Any]]] = {
    "compiled_autograd": {"_disable": nullcontext},
    "trace_rules": {"clear_lru_cache": lambda: None},
}
"""Parts of the compiler, with the functions that `torch.func` and process groups use without compiling anything."""


class _Idle:
    """Replaces a part of the compiler until code uses any other name in it."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return IDLE[self._part].get(name) or getattr(importlib.import_module(f"{COMPILER}.{self._part}"), name)


def without_compiler() -> None:
    """Install the stand-ins in this process; call it before PyTorch is used.

    Any other use of these modules, by fake tensors, say, imports the real ones.
    """
    sys.modules.setdefault(COMPILER, _Uncompiled(COMPILER))
    sys.modules.setdefault(SHAPES, _PlainShapes(SHAPES))


def _config() -> ModuleType:
    """The compiler's settings module, imported without the rest of the compiler."""
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
