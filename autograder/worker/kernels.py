"""Operations of PyTorch's that are refused where PyTorch chooses a kernel: below Python, and below all modes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

KEYS = ("CPU", "AutogradCPU", "MkldnnCPU")
"""Where the kernels of these operations lie; with those that make the graph."""


class Kernels:
    """Puts `refuse(name)` in the place of the kernels of some operations, for as long as these are forbidden.

    Meanwhile nobody has the operation: no scenario, no other function of PyTorch's.
    """

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self._refuse = refuse
        self._watched: dict[str, Any] = {}
        self._library: Any = None
        self._refused: frozenset[str] = frozenset()

    @staticmethod
    def is_operation(value: Any) -> bool:
        """Whether this is `torch.ops.aten.gelu`, say, with all of its overloads."""
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(value, torch._ops.OpOverloadPacket)

    def watch(self, name: str, operation: Any) -> None:
        self._watched[name] = operation

    def refuse_only(self, names: frozenset[str]) -> None:
        """Refuse those of the watched operations that are among `names`, and no longer any others."""
        names &= self._watched.keys()
        if names == self._refused:
            return
        if self._library is not None:
            self._library._destroy()
            self._library = None
        self._refused = names
        if names:
            self._library = sys.modules["torch"].library.Library("aten", "IMPL")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name in names:
                    self._put_in_place(name, self._watched[name])

    def _put_in_place(self, name: str, operation: Any) -> None:
        def kernel(*_: Any, **__: Any) -> Any:
            self._refuse(name)

        for overload in operation.overloads():
            for key in KEYS:
                self._library.impl(getattr(operation, overload), kernel, key)
