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

    @property
    def compiled_autograd(self) -> _CompiledAutograd:
        """What `torch.func` switches off where it differentiates."""
        return _CompiledAutograd()

    @staticmethod
    def disable(fn: Callable[..., Any], recursive: bool = True, **_: Any) -> Callable[..., Any]:
        """`fn`: as it is, it is not compiled."""
        return fn

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # who looks through all modules asks for these
            raise AttributeError(f"module {COMPILER!r} has no attribute {name!r}")
        if name == "config":  # a checkpoint reads a setting
            return _config()
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        return getattr(importlib.import_module(COMPILER), name)


class _CompiledAutograd:
    """Backward passes that are compiled, of which there are none."""

    @staticmethod
    def _disable() -> nullcontext[None]:
        return nullcontext()

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(f"{COMPILER}.compiled_autograd"), name)


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
