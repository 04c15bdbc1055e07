"""Hides an instrument from the program that it measures."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


def _shells() -> tuple[type[TorchDispatchMode], Callable[[TorchDispatchMode], TorchDispatchMode]]:
    behind: weakref.WeakKeyDictionary[TorchDispatchMode, TorchDispatchMode] = weakref.WeakKeyDictionary()

    class Shell(TorchDispatchMode):
        """A mode without attributes that forwards to the instrument behind it."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # as in the instruments: True would import PyTorch's compiler

        def __torch_dispatch__(
            self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            return behind[self].__torch_dispatch__(func, types, args, kwargs)

    def out_of_reach(instrument: TorchDispatchMode) -> TorchDispatchMode:
        """A mode to enter instead of `instrument`, which measures as usual.

            live = LiveStorages()
            with out_of_reach(live):
                program()
            live.bytes

        Any program can find the active modes and write into their attributes; this one has none.
        """
        shell = Shell()
        behind[shell] = instrument
        return shell

    return Shell, out_of_reach


Shell, out_of_reach = _shells()
