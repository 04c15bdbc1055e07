"""Instruments whose readings are nowhere that the measured program comes to by attributes."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


def _shells() -> tuple[type[TorchDispatchMode], Callable[[TorchDispatchMode], TorchDispatchMode]]:
    behind: weakref.WeakKeyDictionary[TorchDispatchMode, TorchDispatchMode] = weakref.WeakKeyDictionary()

    class Shell(TorchDispatchMode):
        """A mode that has nothing, and lets what is behind it measure."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # as the instruments: PyTorch's compiler would be imported

        def __torch_dispatch__(
            self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            return behind[self].__torch_dispatch__(func, types, args, kwargs)

    def out_of_reach(instrument: TorchDispatchMode) -> TorchDispatchMode:
        """A mode to enter in the place of `instrument`, which then measures all the same.

            live = LiveStorages()
            with out_of_reach(live):
                program()
            live.bytes

        Any program can look at the modes that are active, and write into what they have. This one has nothing.
        """
        shell = Shell()
        behind[shell] = instrument
        return shell

    return Shell, out_of_reach


Shell, out_of_reach = _shells()
