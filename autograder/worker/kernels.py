"""Refuses PyTorch operations in its dispatcher, which chooses the kernel: below Python and below all modes."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

KEYS = ("CPU", "AutogradCPU", "MkldnnCPU", "SparseCPU", "SparseCsrCPU", "QuantizedCPU", "NestedTensorCPU")
"""Dispatch keys under which refusing kernels are registered; `AutogradCPU` builds the graph."""
OPERATIONS = "torch.ops."


@cache
def all_operations() -> str:
    """The full names of all of PyTorch's operations, such as `torch.ops.aten.gelu`, one per line."""
    names = sys.modules["torch"]._C._dispatch_get_all_op_names()
    return "\n".join(sorted({OPERATIONS + name.partition(".")[0].replace("::", ".") for name in names}))


def operations_like(pattern: str) -> list[str]:
    """The full names of the operations that match a pattern; `*` does not match a dot."""
    told = re.escape(pattern).replace(re.escape("*"), "[A-Za-z0-9_]*")
    return re.findall(f"^{told}$", all_operations(), re.MULTILINE)


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern of operations, such as `torch.ops.*.*gelu*`."""
    return name.startswith(OPERATIONS) and "*" in name


class Kernels:
    """Replaces the kernels of operations by `refuse(name)` while the operations are forbidden.

    Meanwhile nothing can use the operation, neither a scenario nor another function of PyTorch.
    """

    def __init__(self, refuse: Callable[[str], None]) -> None:
        self._refuse = refuse
        self._watched: dict[str, dict[str, Any]] = {}
        """Operations by full name, for each watched name or pattern."""
        self._libraries: dict[str, Any] = {}
        self._refused: frozenset[str] = frozenset()

    @staticmethod
    def is_operation(value: Any) -> bool:
        """Whether a value is an operation with all its overloads, such as `torch.ops.aten.gelu`."""
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(value, torch._ops.OpOverloadPacket)

    def watch(self, name: str, operation: Any) -> None:
        self._watched[name] = {name: operation}

    def watch_all(self, pattern: str) -> list[str]:
        """Watch all operations that match a pattern, and return their names; none without PyTorch."""
        torch = sys.modules.get("torch")
        names = [] if torch is None else operations_like(pattern)
        self._watched[pattern] = {name: _operation(torch, name) for name in names}
        return names

    def refuse_only(self, names: frozenset[str]) -> None:
        """Refuse the watched operations in `names` and allow all others."""
        names &= self._watched.keys()
        if names == self._refused:
            return
        for library in self._libraries.values():
            library._destroy()
        self._libraries = {}
        self._refused = names
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            operations = {key: one for name in names for key, one in self._watched[name].items()}
            for key, operation in operations.items():
                namespace = key.removeprefix(OPERATIONS).partition(".")[0]
                if namespace not in self._libraries:
                    self._libraries[namespace] = sys.modules["torch"].library.Library(namespace, "IMPL")
                self._replace(key, operation, self._libraries[namespace])

    def _replace(self, name: str, operation: Any, library: Any) -> None:
        def kernel(*_: Any, **__: Any) -> Any:
            self._refuse(name)

        for overload in operation.overloads():
            for key in KEYS:
                library.impl(getattr(operation, overload), kernel, key)


def _operation(torch: Any, name: str) -> Any:
    namespace, _, operation = name.removeprefix(OPERATIONS).partition(".")
    return getattr(getattr(torch.ops, namespace), operation)
