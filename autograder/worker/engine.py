"""PyTorch's autograd engine, below Python: refused while cells run; afterwards its backward passes are counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

NAME = "torch.autograd.backward"
"""The engine is refused while cells run if this name is forbidden."""
STARTS = frozenset({NAME, "torch.autograd.grad"})
"""Each call to one of these begins one pass; all other functions for backward passes call them."""


class Engine:
    """Refuses backward passes in all threads, by installing an autograd compiler that raises; and counts passes.

    The engine numbers all passes, from any caller and thread, so the numbers reveal passes that no named function
    began.
    """

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self._refuse = refuse
        self._refused = False
        self._asked = 0
        """Number of refused passes."""
        self._number: Callable[[], int] | None = None
        self._before = 0
        self._begun = 0
        self._ended = 0

    def refuse_only(self, names: frozenset[str]) -> None:
        """Refuse the engine if `NAME` is in `names`, else allow it."""
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
        """Record that an allowed watched function was called."""
        self._begun += name in STARTS

    def note_ended(self, name: str) -> None:
        """Record that an allowed watched function returned."""
        self._ended += name in STARTS

    def watch(self) -> None:
        """Start counting passes."""
        if self._number is None:
            self._number = _numbers()
        self.count()

    def count(self) -> None:
        """Reset the counters."""
        self._begun = self._ended = self._asked = 0
        if self._number is not None:
            self._before = self._number()

    def others(self) -> bool:
        """Whether a pass ran since `count` that no function of `STARTS` began, or the engine cannot be asked."""
        if self._number is None:
            return False
        try:
            passes = self._number() - self._before - 1
        except Exception:  # the submission has installed its own compiler in the engine
            return True
        return not self._ended <= passes - self._asked <= self._begun


def _numbers() -> Callable[[], int] | None:
    """A function that runs an empty pass and returns its number; None without PyTorch."""
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
    """PyTorch's `compiled_autograd` module; None without PyTorch, or in a version without it."""
    torch = sys.modules.get("torch")
    return getattr(getattr(getattr(torch, "_C", None), "_dynamo", None), "compiled_autograd", None)
