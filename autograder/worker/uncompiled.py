"""PyTorch without its compiler, until somebody asks for that.

Optimizers and checkpoints tell `torch._dynamo` that they are not to be compiled, and to do so they import all of it: a
second and a half in each process that takes a step. Here nothing is compiled, so there is nothing to tell.
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
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        return getattr(importlib.import_module(COMPILER), name)


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
    """Let `import torch._dynamo` cost nothing in this process as long as nothing is compiled; before PyTorch is used.

    What else is asked of it, by fake tensors, say, imports it as ever.
    """
    sys.modules.setdefault(COMPILER, _Uncompiled(COMPILER))


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
