"""PyTorch's engine for backward passes, refused while cells run: below Python, whoever starts it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

NAME = "torch.autograd.backward"
"""Where this is forbidden while cells run, so is the engine."""


class Engine:
    """Has the engine ask for a compiler that refuses, in all threads, before it does anything."""

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self._refuse = refuse
        self._refused = False

    def refuse_only(self, names: frozenset[str]) -> None:
        """Refuse the engine if `NAME` is among `names`, and no longer if not."""
        refused = NAME in names
        if refused == self._refused:
            return
        hooks = _hooks()
        if hooks is not None:
            hooks.set_autograd_compiler(self._refused_compiler if refused else None, False)
            self._refused = refused

    def _refused_compiler(self) -> None:
        self._refuse(NAME)


def _hooks() -> Any:
    """PyTorch's way to have a backward pass compiled; None without PyTorch, or in a version that has none."""
    torch = sys.modules.get("torch")
    return getattr(getattr(getattr(torch, "_C", None), "_dynamo", None), "compiled_autograd", None)
