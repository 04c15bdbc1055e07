"""What measures beside a submission, as it was before the first cell: scenarios, instruments, what these call.

They lie in the submission's own process, where a cell can put something else in their place. Here they are noted
first; afterwards it is told which are others. That finds what was patched in a module, in a class, in the globals of a
scenario, in the code of a function. It does not find who undoes it in time, who looks for these notes (frames, `gc`),
who changes a closure, and who writes into memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from types import CodeType, FunctionType
from typing import Any

MODULES: tuple[str, ...] = (
    *("builtins", "gc", "weakref", "numpy", "torch", "torch.autograd", "torch.autograd.function"),
    *("torch.autograd.graph", "torch.nn", "torch.nn.functional", "torch.random", "torch.utils._python_dispatch"),
    *("torch.utils._pytree", "torch.utils.flop_counter"),
)
"""What scenarios and instruments use, beside the course's own modules."""
CLASSES: tuple[str, ...] = (
    *("torch.Tensor", "torch.UntypedStorage", "torch.nn.Module", "torch.nn.Parameter", "torch.autograd.Function"),
    *("torch.autograd.graph.saved_tensors_hooks", "torch.utils._python_dispatch.TorchDispatchMode"),
)
BY_TORCH = {"torch.manual_seed", "torch.nn.Module.__init__", "torch.nn.Module.__setstate__"}
"""What PyTorch itself replaces when it imports its compiler: for an optimizer, say."""
FOREIGN = {name.partition(".")[0] for name in MODULES}
OURS = ("course.", "autograder.worker.")
OPERATORS = {f"__{name}__" for name in ("add", "sub", "mul", "pow", "matmul", "eq", "lt", "le", "gt", "ge", "getitem")}
OPERATORS |= {"__call__", "__init__", "__enter__", "__exit__"}
"""Methods that code calls without a name."""


def noted(scenarios: dict[str, Any]) -> Callable[[], list[str]]:
    """Note what is there now; the function that is returned names what is no longer the same, sorted.

    Only what can be called counts, and only what was there: caches fill, and modules are imported late.
    """
    there = list(_spaces(scenarios))
    own = [function for name, space in there if _is_ours(name) for function in _own_functions(space)]
    used = set().union(*(_names(function.__code__) for function in own))
    spaces = [(name, space, *_callables(space, None if _is_ours(name) else used)) for name, space in there]
    for name, cls in _foreign_classes():
        keys = _inherited(cls, used)
        spaces.append((name, vars(cls), keys, [None] * len(keys)))
    codes = [(_told(function), function, function.__code__) for function in own]
    same, every, each = is_, all, map  # a cell may replace these, too

    def replaced() -> list[str]:
        found = []
        for name, space, keys, values in spaces:
            if not every(each(same, each(space.get, keys), values)):
                found += [
                    f"{name}.{key}" if name else key
                    for key, value in zip(keys, values, strict=True)
                    if space.get(key) is not value
                ]
        found += [name for name, function, code in codes if function.__code__ is not code]
        return sorted(set(found) - BY_TORCH)

    return replaced


def _spaces(scenarios: dict[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Namespaces by name: the scenarios' own (`""`), modules, classes."""
    yield "", scenarios
    ours = [name for name in sys.modules if name.startswith(OURS)]
    for name in (*MODULES, *ours):
        module = sys.modules.get(name)
        if module is not None:
            yield name, vars(module)
            if name in ours:
                yield from _classes(name, vars(module).values())
    yield from _classes("", scenarios.values())
    for name, cls in _foreign_classes():
        yield name, vars(cls)


def _foreign_classes() -> Iterator[tuple[str, type]]:
    for full_name in CLASSES:
        module, _, name = full_name.rpartition(".")
        if module in sys.modules:
            yield full_name, getattr(sys.modules[module], name)


def _classes(module: str, values: Iterable[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The classes among some values that are a module's own, or the scenarios'."""
    for value in values:
        if isinstance(value, type) and value.__module__ in (module, "builtins") and value.__flags__ & _HEAP:
            yield f"{module}.{_told(value)}".removeprefix("."), vars(value)


def _told(value: type | FunctionType) -> str:
    """Its name without that of a function which made it."""
    return value.__qualname__.rpartition("<locals>.")[2]


_HEAP = 1 << 9
"""The flag of a class that Python code has made."""


def _is_ours(name: str) -> bool:
    """Whether a namespace of this name is noted whole; of others, what the scenarios and our modules name."""
    return name.partition(".")[0] not in FOREIGN


def _callables(space: Mapping[str, Any], used: set[str] | None) -> tuple[list[str], list[Any]]:
    """Names and values of what can be called, and of what a class makes methods and properties from."""
    kinds = (staticmethod, classmethod, property)
    there = {
        key: value
        for key, value in list(space.items())
        if (used is None or key in used or key.startswith("__")) and (callable(value) or isinstance(value, kinds))
    }
    return list(there), list(there.values())


def _inherited(cls: type, used: set[str]) -> list[str]:
    """Names of methods that a class leaves to its bases: put into the class, others would be found first."""
    bases = cls.__mro__[1:-1]
    return [key for base in bases for key in vars(base) if (key in used or key in OPERATORS) and key not in vars(cls)]


def _names(code: CodeType) -> set[str]:
    """The globals and attributes that code uses, that of functions inside of it included."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _own_functions(space: Mapping[str, Any]) -> list[FunctionType]:
    """The functions of Python code in a namespace."""
    return [function for value in list(space.values()) for function in _functions(value)]


def _functions(value: Any) -> Iterator[FunctionType]:
    """The functions of Python code behind a value: that of a static method, what a decorator wraps."""
    while isinstance(value, FunctionType | staticmethod | classmethod | property):
        if isinstance(value, FunctionType):
            yield value
        value = value.fget if isinstance(value, property) else getattr(value, "__wrapped__", None)
