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
def all_operations() -> dict[str, frozenset[str]]:
    """The names of the arguments of each of PyTorch's operations, by full name, such as `torch.ops.aten.gelu`."""
    found: dict[str, set[str]] = {}
    for schema in sys.modules["torch"]._C._jit_get_all_schemas():
        arguments = found.setdefault(_full_name(schema.name), set())
        arguments.update(argument.name for argument in schema.arguments)
    return {name: frozenset(arguments) for name, arguments in found.items()}


def _full_name(name: str) -> str:
    return OPERATIONS + name.partition(".")[0].replace("::", ".")


def operations_like(pattern: str) -> list[str]:
    """The full names of the operations that match a pattern; `*` does not match a dot.

    In parentheses may be a pattern for the name of an argument.
    """
    of_name, _, of_argument = pattern.rstrip(")").partition("(")
    fits, has = map(_matching, (of_name, of_argument))
    return sorted(
        name
        for name, arguments in all_operations().items()
        if fits(name) and (not of_argument or any(map(has, arguments)))
    )


def _matching(pattern: str) -> Callable[[str], Any]:
    return re.compile(re.escape(pattern).replace(re.escape("*"), "[A-Za-z0-9_]*")).fullmatch


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

    def watch_new(self) -> None:
        """Watch operations that match a watched pattern and were registered after `watch_all`, by an import, say."""
        patterns = [name for name in self._watched if is_pattern(name)]
        if not patterns:
            return
        torch = sys.modules["torch"]
        names = {_full_name(name) for name in torch._C._dispatch_get_all_op_names()} - all_operations().keys()
        for pattern in patterns:
            new = {name: _operation(torch, name) for name in filter(_matching(pattern), names)}
            self._watched[pattern] = self._watched[pattern] | new

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
