"""Resolves functions by full name, and puts a gate into their code: a check that runs before each call."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_MARK = "<gate>"
"""Placeholder for the gate in a template's constants."""


def resolve(name: str) -> tuple[Any, str, Any]:
    """The owner (a module or class), attribute name and value of a full name.

    Raises:
        ImportError, AttributeError: the name does not exist.
    """
    parts = name.split(".")
    value: Any = importlib.import_module(parts[0])
    owner = value
    for i, part in enumerate(parts[1:], start=2):
        owner = value
        try:
            value = getattr(owner, part)
        except AttributeError:
            if not isinstance(owner, ModuleType):
                raise
            value = importlib.import_module(".".join(parts[:i]))
    return owner, parts[-1], value


def written_in(target: Any) -> Iterator[FunctionType]:
    """The Python functions behind a function or method, or defined in a class or module.

    For a decorated function, the innermost one, because a caller could remove the decorators.
    """
    if isinstance(target, type):
        for value in list(vars(target).values()):
            if not isinstance(value, type):  # a nested class may refer back to this one
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
    """The function at the end of the chain of `__wrapped__`."""
    while isinstance(inner := getattr(function, "__wrapped__", None), FunctionType):
        function = inner
    return function


def all_behind(value: Any, module: str, seen: set[int] | None = None) -> Iterator[FunctionType]:
    """The Python functions behind a value: methods of a class of `module`, and functions in closures of decorators."""
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
    """A code object and those of all functions nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_inside(constant)


def with_gate(
    function: FunctionType, check: Callable[[], None], made: Callable[[tuple[Any, ...], Any], None]
) -> CodeType:
    """Make a function call `check()`, which may raise, before its body, and `made(arguments, result)` after it.

    The function object stays the same and only its code changes, so every reference to it passes the gate. Returns the
    new code.
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
"""The code object that all gates share."""


Held = tuple[tuple[FunctionType, tuple[tuple[CellType, Any], ...]], ...]
"""Gates with the contents of their closure cells, which a submission could replace."""


def held_by(code: CodeType) -> Held:
    """The gates in `code`, with the current contents of their closure cells."""
    gates = [constant for constant in code.co_consts if isinstance(constant, FunctionType)]
    return tuple((gate, tuple((cell, cell.cell_contents) for cell in gate.__closure__ or ())) for gate in gates)


def held_still(held: Held) -> bool:
    """Whether these gates and their closure cells are unchanged."""
    return all(
        gate.__code__ is GATE and all(_content(cell) is content for cell, content in cells) for gate, cells in held
    )


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the submission emptied it
        return None


def _template(code: CodeType, gate: Callable[..., Any]) -> CodeType:
    """Code that passes all arguments to `gate`, with the name, file and line of `code`.

    It has the same free variables, because a function's new code must fit its closure.
    """
    free = ", ".join(code.co_freevars)
    source = f"def around({free}):\n def inside(*args, **kwargs):\n  ({free}{',' * bool(free)})\n"
    source += f"  return '{_MARK}'(args, kwargs)\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # "'str' object is not callable"
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
