"""Detects that a submission replaced measuring code: scenarios, instruments and the functions that these call.

This code runs in the submission's process, where a cell can replace it. It is recorded before the first cell and
compared after each call, which finds patches of a module, a class or a scenario's globals. A patch that the call has
undone is found by the namespace's version, and a function's new code by an audit hook. Not found are a submission that
finds the record (by frames or `gc`), a changed closure and a write to memory.
"""

from __future__ import annotations

import builtins
import copyreg
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autograder.worker.dispatcher import Watch
from autograder.worker.versions import version_counter

CLASSES: tuple[str, ...] = (
    *("torch.Tensor", "torch.UntypedStorage", "torch.nn.Module", "torch.nn.Parameter", "torch.autograd.Function"),
    *("torch.autograd.graph.saved_tensors_hooks", "torch.utils._python_dispatch.TorchDispatchMode"),
)
BY_TORCH = {"torch.manual_seed", "torch.nn.Module.__init__", "torch.nn.Module.__setstate__"}
"""Functions that PyTorch itself replaces when it imports its compiler, for an optimizer, say."""
CHANGED_FOR_A_WHILE = frozenset(
    {"sys", "torch", "torch.Tensor", "torch.autograd.forward_ad", "torch.utils._python_dispatch", "warnings"}
)
"""Namespaces that harmless code changes and changes back, by `torch.set_default_dtype` or `torch.save`, say. Here only
what stays replaced is found."""
OURS = ("course.", "autograder.worker.")
OPERATORS = {f"__{name}__" for name in ("add", "sub", "mul", "pow", "matmul", "eq", "lt", "le", "gt", "ge", "getitem")}
OPERATORS |= {"__call__", "__init__", "__enter__", "__exit__"}
"""Methods that code calls without naming them."""


def noted(scenarios: dict[str, Any], without_ctypes: Callable[[], None]) -> Watch:
    """Record all callables now. Only existing ones count, because caches fill and modules are imported later.

    Args:
        without_ctypes: takes `ctypes` away; it is called in between, since the counters of versions are made with it.
    """
    ours = list(_own_spaces(scenarios))
    for cls in [cls for _, cls in (*_own_classes(scenarios), *_foreign_classes())]:
        copyreg._slotnames(cls)  # type: ignore[attr-defined]  # else the first `copy.deepcopy` writes it into the class
    own = [function for _, space in ours for function in _own_functions(space)]
    used = set().union(*(_names(function.__code__) for function in own))
    there = [*ours, *_foreign_spaces([space for _, space in ours], used)]
    versions = version_counter([space for _, space in there])
    without_ctypes()
    spaces = [
        (name, space, *_callables(space, None if number < len(ours) else used))
        for number, (name, space) in enumerate(there)
    ]
    inherited = [(name, vars(cls), _inherited(cls, used)) for name, cls in _foreign_classes()]
    changed: list[str] = []
    sys.addaudithook(_changes_of({function: _told(function) for function in own}, changed))
    unchanged: list[int | None] = [None] * len(spaces)
    """The version at which each namespace was last found as recorded."""
    before, keys_before = versions(), [frozenset(space) for _, space, *_ in spaces]
    settled: list[int] = []
    """The versions at which nothing was found; empty where namespaces have none."""
    # locals, which no cell can replace
    same, every, each, numbered, keys_of, ordered, by_torch = is_, all, map, enumerate, frozenset, sorted, BY_TORCH
    only_imports = _only_imports

    def begin() -> None:
        now = versions()
        if now != before:
            for number, version in numbered(now):
                if version != before[number]:
                    before[number], keys_before[number] = version, keys_of(spaces[number][1])

    def replaced() -> list[str]:
        found = []
        now = versions()
        if now == settled and not changed:
            return []
        for number, version in numbered(now):
            if version and version == unchanged[number]:
                continue
            name, space, keys, values = spaces[number]
            if not every(each(same, each(space.get, keys), values)):
                found += [
                    f"{name}.{key}" if name else key
                    for key, value in zip(keys, values, strict=True)
                    if space.get(key) is not value
                ]
            elif version != before[number] and not only_imports(name, space, keys_before[number]):
                found.append(name or "scenario")
            else:
                unchanged[number] = version
        found += [f"{name}.{key}" for name, space, keys in inherited for key in keys if key in space]
        found += changed
        if not found and every(now):
            settled[:] = now
        return ordered(keys_of(found) - by_torch)

    return Watch(begin, replaced)


def _changes_of(functions: dict[FunctionType, str], changed: list[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that appends the names of functions whose code or defaults are set. It can't be taken away."""
    type_of, function = type, FunctionType  # locals, which no cell can replace
    events = ("object.__setattr__", "object.__delattr__")

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in events and type_of(arguments[0]) is function and arguments[0] in functions:
            changed.append(functions[arguments[0]])

    return audit


def _only_imports(name: str, space: Mapping[str, Any], before: frozenset[str]) -> bool:
    """Whether a module's namespace has changed only by what an import, or a warning, puts into it."""
    if name in CHANGED_FOR_A_WHILE:
        return True
    new = space.keys() - before
    return bool(new) and all(key == "__warningregistry__" or _is_submodule(name, key, space[key]) for key in new)


def _is_submodule(name: str, key: str, value: Any) -> bool:
    return isinstance(value, ModuleType) and sys.modules.get(f"{name}.{key}") is value


def _own_spaces(scenarios: dict[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Our namespaces with their names: the scenarios' own (`""`), modules and classes."""
    yield "", scenarios
    yield from ((name, vars(module)) for name, module in list(sys.modules.items()) if name.startswith(OURS))
    yield from ((name, vars(cls)) for name, cls in _own_classes(scenarios))


def _own_classes(scenarios: dict[str, Any]) -> Iterator[tuple[str, type]]:
    yield from _classes("", scenarios.values())
    for name, module in list(sys.modules.items()):
        if name.startswith(OURS):
            yield from _classes(name, vars(module).values())


def _foreign_spaces(ours: list[Mapping[str, Any]], used: set[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Namespaces of the modules that our code names, directly or as attributes of others, and of `CLASSES`."""
    yield "builtins", vars(builtins)
    named = [value for space in ours for value in space.values() if type(value) is ModuleType]
    found: set[str] = {"builtins"}
    while named:
        module = named.pop()
        if module.__name__ in found or module.__name__.startswith(OURS):
            continue
        found.add(module.__name__)
        yield module.__name__, vars(module)
        named += [value for key in used.intersection(vars(module)) if type(value := vars(module)[key]) is ModuleType]
    for name, cls in _foreign_classes():
        yield name, vars(cls)


def _foreign_classes() -> Iterator[tuple[str, type]]:
    for full_name in CLASSES:
        module, _, name = full_name.rpartition(".")
        if module in sys.modules:
            yield full_name, getattr(sys.modules[module], name)


def _classes(module: str, values: Iterable[Any]) -> Iterator[tuple[str, type]]:
    """The classes among `values` that the module itself, or the scenarios, define."""
    for value in values:
        if isinstance(value, type) and value.__module__ in (module, "builtins") and value.__flags__ & _HEAP:
            yield f"{module}.{_told(value)}".removeprefix("."), value


def _told(value: type | FunctionType) -> str:
    """The qualified name, without the function in which it was defined."""
    return value.__qualname__.rpartition("<locals>.")[2]


_HEAP = 1 << 9
"""`Py_TPFLAGS_HEAPTYPE`, set for classes that Python code defines."""


def _callables(space: Mapping[str, Any], used: set[str] | None) -> tuple[list[str], list[Any]]:
    """Names and values of callables, static and class methods and properties; only those in `used`, if given."""
    kinds = (staticmethod, classmethod, property)
    there = {
        key: value
        for key, value in list(space.items())
        if (used is None or key in used or key.startswith("__")) and (callable(value) or isinstance(value, kinds))
    }
    return list(there), list(there.values())


def _inherited(cls: type, used: set[str]) -> list[str]:
    """Names of inherited methods: a submission could override one by adding it to the class."""
    bases = cls.__mro__[1:-1]
    return [key for base in bases for key in vars(base) if (key in used or key in OPERATORS) and key not in vars(cls)]


def _names(code: CodeType) -> set[str]:
    """The globals and attributes that code and its nested functions use."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _own_functions(space: Mapping[str, Any]) -> list[FunctionType]:
    """The Python functions in a namespace."""
    return [function for value in list(space.values()) for function in _functions(value)]


def _functions(value: Any) -> Iterator[FunctionType]:
    """The Python functions behind a value, such as a static method or a decorated function."""
    while isinstance(value, FunctionType | staticmethod | classmethod | property):
        if isinstance(value, FunctionType):
            yield value
        value = value.fget if isinstance(value, property) else getattr(value, "__wrapped__", None)
