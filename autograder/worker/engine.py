"""PyTorch's engine for backward passes, below Python: refused while cells run, and its passes counted afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

NAME = "torch.autograd.backward"
"""Where this is forbidden while cells run, so is the engine."""
STARTS = frozenset({NAME, "torch.autograd.grad"})
"""The functions of which each call begins one pass; the others call these."""


class Engine:
    """Has the engine ask for a compiler that refuses, in all threads, before it does anything; and counts its passes.

    The engine numbers its passes, whoever begins one, in whatever thread. So those that nobody began by name show.
    """

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self._refuse = refuse
        self._refused = False
        self._asked = 0
        """Passes that were refused."""
        self._number: Callable[[], int] | None = None
        self._before = 0
        self._begun = 0
        self._ended = 0

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
        self._asked += 1
        self._refuse(NAME)

    def note_begun(self, name: str) -> None:
        """A function is called that may be called."""
        self._begun += name in STARTS

    def note_ended(self, name: str) -> None:
        """It has returned."""
        self._ended += name in STARTS

    def watch(self) -> None:
        """Count passes from now on."""
        if self._number is None:
            self._number = _numbers()
        self.count()

    def count(self) -> None:
        """Count anew."""
        self._begun = self._ended = self._asked = 0
        if self._number is not None:
            self._before = self._number()

    def others(self) -> bool:
        """Whether passes ran since `count` that no function of `STARTS` began, or the engine can no longer be asked."""
        if self._number is None:
            return False
        try:
            passes = self._number() - self._before - 1
        except Exception:  # somebody has put a compiler of their own into the engine
            return True
        return not self._ended <= passes - self._asked <= self._begun


def _numbers() -> Callable[[], int] | None:
    """A function that runs a pass of no operations, and returns its number; None without PyTorch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    leaf = torch.zeros((), requires_grad=True)
    one = torch.ones(())
    run, number, numbers = torch.autograd.Variable._execution_engine.run_backward, torch._C._current_graph_task_id, []
    leaf.register_hook(lambda _: numbers.append(number()))

    def next_number() -> int:
        numbers.clear()
        run((leaf,), (one,), False, False, (leaf,), True, False)
        return int(numbers[0])

    return next_number


def _hooks() -> Any:
    """PyTorch's way to have a backward pass compiled; None without PyTorch, or in a version that has none."""
    torch = sys.modules.get("torch")
    return getattr(getattr(getattr(torch, "_C", None), "_dynamo", None), "compiled_autograd", None)
