"""Functions by their full names, and their code: whose it is, and how to put a gate into it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_MARK = "<gate>"
"""Stands in a template for what is called instead."""


def resolve(name: str) -> tuple[Any, str, Any]:
    """The module or class that holds what a full name says, its attribute there, and its value.

    Raises:
        ImportError, AttributeError: there is no such thing.
    """
    parts = name.split(".")
    owner = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:-1], start=2):
        try:
            owner = getattr(owner, part)
        except AttributeError:
            owner = importlib.import_module(".".join(parts[:i]))
    return owner, parts[-1], getattr(owner, parts[-1])


def written_in(target: Any) -> Iterator[FunctionType]:
    """The functions of Python code that a function leads to, or that a class or a module has of its own.

    Of a decorated function the one inside: whoever takes the decoration off has that one.
    """
    if isinstance(target, type):
        for value in list(vars(target).values()):
            if not isinstance(value, type):  # another class, which may lead back
                yield from written_in(value)
    elif isinstance(target, ModuleType):
        for value in list(vars(target).values()):
            if isinstance(value, type | FunctionType) and value.__module__ == target.__name__:
                yield from written_in(value)
    elif isinstance(target, staticmethod | classmethod | MethodType):
        yield from written_in(target.__func__)
    elif isinstance(target, property):
        yield from written_in(target.fget)
    elif isinstance(target, FunctionType):
        yield _innermost(target)


def _innermost(function: FunctionType) -> FunctionType:
    """What decorators have been put around: `__wrapped__`, as far as that goes."""
    while isinstance(inner := getattr(function, "__wrapped__", None), FunctionType):
        function = inner
    return function


def all_behind(value: Any, module: str, seen: set[int] | None = None) -> Iterator[FunctionType]:
    """The functions of Python code behind a value: methods of a class of `module`, what decorators have in closures."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, type) and value.__module__ == module:
        for member in list(vars(value).values()):
            yield from all_behind(member, module, seen)
    elif isinstance(value, staticmethod | classmethod | MethodType):
        yield from all_behind(value.__func__, module, seen)
    elif isinstance(value, property):
        yield from all_behind(value.fget, module, seen)
    elif isinstance(value, FunctionType):
        yield value
        for cell in value.__closure__ or ():
            try:
                yield from all_behind(cell.cell_contents, module, seen)
            except ValueError:  # still empty
                continue


def codes_inside(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of all functions that are written inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_inside(constant)


def with_gate(
    function: FunctionType, check: Callable[[], None], made: Callable[[tuple[Any, ...], Any], None]
) -> CodeType:
    """Let a function call `check`, which may raise, before it does anything, and then `made(arguments, result)`.

    It is the same function object, with other code: so whoever has it, under whatever name, has the gate. Returns that
    code.
    """
    inside = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    inside.__kwdefaults__ = function.__kwdefaults__
    code = _template(function.__code__, _gate(inside, check, made))
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = code
    return code


def _gate(
    inside: Callable[..., Any], check: Callable[[], None], made: Callable[[tuple[Any, ...], Any], None]
) -> FunctionType:
    def gate(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        check()
        result = inside(*args, **kwargs)
        made(args, result)
        return result

    assert isinstance(gate, FunctionType)
    return gate


GATE: CodeType = _gate(len, lambda: None, lambda args, result: None).__code__
"""The code that all gates have."""


Held = tuple[tuple[FunctionType, tuple[tuple[CellType, Any], ...]], ...]
"""Gates, and what the cells of each hold: who reaches one could put something else into them."""


def held_by(code: CodeType) -> Held:
    """The gates that code goes through, with what they hold now."""
    gates = [constant for constant in code.co_consts if isinstance(constant, FunctionType)]
    return tuple((gate, tuple((cell, cell.cell_contents) for cell in gate.__closure__ or ())) for gate in gates)


def held_still(held: Held) -> bool:
    """Whether these gates are as they were."""
    return all(
        gate.__code__ is GATE and all(_content(cell) is content for cell, content in cells) for gate, cells in held
    )


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # somebody emptied it
        return None


def _template(code: CodeType, gate: Callable[..., Any]) -> CodeType:
    """Code that hands all arguments to `gate`, and looks like `code` to who asks where it stands.

    It has the same free variables: a function keeps its closure whatever its code.
    """
    free = ", ".join(code.co_freevars)
    source = f"def around({free}):\n def inside(*args, **kwargs):\n  ({free}{',' * bool(free)})\n"
    source += f"  return '{_MARK}'(args, kwargs)\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a string is no function
        module = compile(source, code.co_filename, "exec", dont_inherit=True)
    around = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    inside = next(constant for constant in around.co_consts if isinstance(constant, CodeType))
    assert inside.co_freevars == code.co_freevars
    constants = tuple(gate if constant == _MARK else constant for constant in inside.co_consts)
    return inside.replace(
        co_consts=constants,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_firstlineno=code.co_firstlineno,
    )
