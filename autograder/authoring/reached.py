"""Which statements of the solutions a check reaches, and which of them an edited source changes.

A check that reaches no changed statement sees what it saw of the solution, so it need not run: most mistakes in ch05's
`Tensor` are in operations that a training never uses. A source with a mark in front of each statement tells what is
reached; it gives the solution's answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import chain
from types import CodeType
from typing import Any

from autograder.judging.asking.local_run import Edited

MARK = "__reached__"
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
Part = ast.stmt | ast.Lambda
Parts = frozenset[int]
"""Numbers of statements in functions, and of lambdas in these."""


class Outside(Exception):
    """A change is outside of all functions, where it may have any effect."""


class Marked:
    """A source whose functions note the statements that they reach."""

    def __init__(self, text: str, file: str = "<solution>") -> None:
        self._lines = text.splitlines(keepends=True)
        self._body = ast.parse(text).body
        self._spans = [_span(statement) for statement in self._body]
        """The first line of each statement, and the one below its last, both counted from 0."""
        self._reached: set[int] = set()
        marked = ast.parse(text)
        parts = list(_parts(self._body))
        self._numbers = {id(part): number for number, part in enumerate(parts)}
        _mark(list(_parts(marked.body)), marked.body)
        self.code: CodeType = compile(ast.fix_missing_locations(marked), file, "exec", dont_inherit=True)

    @property
    def names(self) -> dict[str, Any]:
        """What the marked code needs to have in its module."""
        return {MARK: self._reached.add}

    def reached(self) -> Parts:
        """The parts that were reached since this was asked last."""
        parts = frozenset(self._reached)
        self._reached.clear()
        return parts

    def changed(self, edited: Edited) -> Parts | None:
        """The parts whose being reached tells that an edited source may do something else; None for everything."""
        pairs = [(self._body[edited[0]], edited[1])] if isinstance(edited, tuple) else self._pairs(edited)
        if pairs is None:
            return None
        try:
            return frozenset(chain.from_iterable(self._changed(one, other) for one, other in pairs))
        except Outside:
            return None

    def _pairs(self, text: str) -> list[tuple[ast.stmt, ast.stmt]] | None:
        """The statements outside of functions that an edited text changes, and what becomes of them.

        None if that is not one for one. Lines above and below them are not parsed, which would be most of the cost.
        """
        lines = text.splitlines(keepends=True)
        longer = len(lines) - len(self._lines)
        same = zip(self._lines, lines, strict=False)
        first = next((i for i, (one, other) in enumerate(same) if one != other), min(len(lines), len(self._lines)))
        same = zip(reversed(self._lines[first:]), reversed(lines[first:]), strict=False)
        last = next((i for i, (one, other) in enumerate(same) if one != other), None)
        end = len(self._lines) - (min(len(lines), len(self._lines)) - first if last is None else last)
        within = [i for i, (begins, ends) in enumerate(self._spans) if begins < max(end, first + 1) and ends > first]
        if not within:
            return [] if first == end == len(self._lines) and not longer else None
        begins, ends = self._spans[within[0]][0], self._spans[within[-1]][1]
        if begins > first or ends < end:
            return None
        try:
            after = ast.parse("".join(lines[begins : ends + longer])).body
        except SyntaxError:  # an edit that goes on below
            return None
        return list(zip((self._body[i] for i in within), after, strict=True)) if len(after) == len(within) else None

    def _changed(self, one: ast.stmt, other: ast.stmt) -> set[int]:
        """The changed parts of a statement outside of functions. Raises `Outside` if it is changed itself."""
        if type(one) is not type(other):
            raise Outside
        if isinstance(one, ast.ClassDef) and isinstance(other, ast.ClassDef) and len(one.body) == len(other.body):
            _require_equal(one, other)
            return set(chain.from_iterable(map(self._changed, one.body, other.body)))
        if not (isinstance(one, FUNCTIONS) and isinstance(other, FUNCTIONS)):
            if ast.dump(one) != ast.dump(other):
                raise Outside
            return set()
        _require_equal(one, other)
        if _scopes(one) != _scopes(other):  # a name may have become local, or the function a generator
            return {self._entry(one)}
        return set(self._of_bodies(one.body, other.body, self._entry(one)))

    def _entry(self, function: FUNCTIONS) -> int:
        """The part that is reached when a function is called."""
        first = next((one for one in function.body if id(one) in self._numbers), None)
        if first is None:
            raise Outside
        return self._numbers[id(first)]

    def _of_bodies(self, one: Sequence[ast.stmt], other: Sequence[ast.stmt], owner: int) -> Iterator[int]:
        if len(one) != len(other):
            yield owner
            return
        for mine, its in zip(one, other, strict=True):
            yield from self._of_statement(mine, its, self._numbers.get(id(mine), owner))

    def _of_statement(self, one: ast.AST, other: ast.AST, owner: int) -> Iterator[int]:
        """The changed parts of a node inside of a function; `owner` is the part that it belongs to."""
        if type(one) is not type(other):
            yield owner
            return
        for name in one._fields:
            mine, its = getattr(one, name, None), getattr(other, name, None)
            if isinstance(mine, ast.AST) and isinstance(its, ast.AST):
                inner = self._numbers.get(id(one), owner) if isinstance(one, ast.Lambda) and name == "body" else owner
                yield from self._of_statement(mine, its, inner)
            elif isinstance(mine, list) and isinstance(its, list) and _are_statements([*mine, *its]):
                inner = self._entry(one) if isinstance(one, FUNCTIONS) else owner
                yield from self._of_bodies(mine, its, inner)
            elif isinstance(mine, list) and isinstance(its, list) and len(mine) == len(its):
                for a, b in zip(mine, its, strict=True):
                    if isinstance(a, ast.AST) and isinstance(b, ast.AST):
                        yield from self._of_statement(a, b, owner)
                    elif not _same(a, b):
                        yield owner
            elif not _same(mine, its):
                yield owner


def _span(statement: ast.stmt) -> tuple[int, int]:
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    return first - 1, statement.end_lineno or first


def _are_statements(nodes: Sequence[Any]) -> bool:
    return bool(nodes) and all(isinstance(node, ast.stmt) for node in nodes)


def _same(one: Any, other: Any) -> bool:
    """Whether two constants are the same, as 1, 1.0 and True are not."""
    return type(one) is type(other) and repr(one) == repr(other)


def _require_equal(one: ast.stmt, other: ast.stmt) -> None:
    """Raise `Outside` unless two definitions differ in their bodies only."""
    for name in one._fields:
        if name != "body" and _dumped(getattr(one, name)) != _dumped(getattr(other, name)):
            raise Outside


def _dumped(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [ast.dump(one) if isinstance(one, ast.AST) else repr(one) for one in values]


def _parts(body: Sequence[ast.stmt]) -> Iterator[Part]:
    """The statements in functions, without docstrings, and the lambdas in them, always in the same order."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, FUNCTIONS):
                yield from _statements_of(node)


def _statements_of(function: FUNCTIONS) -> Iterator[Part]:
    """A function's parts, without those of functions that are defined in it."""
    waiting: list[ast.AST] = list(function.body[ast.get_docstring(function, clean=False) is not None :])
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.stmt | ast.Lambda):
            yield node
        if isinstance(node, FUNCTIONS):  # its body is another function's; its defaults and decorators are not
            waiting += [*node.decorator_list, node.args]
        else:
            waiting += ast.iter_child_nodes(node)


def _mark(parts: list[Part], body: list[ast.stmt]) -> None:
    """Put a mark with its number in front of each part."""
    numbers = {id(part): number for number, part in enumerate(parts)}
    for node in [*chain.from_iterable(map(ast.walk, body))]:
        for name in ("body", "orelse", "finalbody"):
            of_node = getattr(node, name, None)
            if isinstance(of_node, list):
                marked = [[_noted(numbers[id(one)]), one] if id(one) in numbers else [one] for one in of_node]
                setattr(node, name, [*chain.from_iterable(marked)])
        if isinstance(node, ast.Lambda) and id(node) in numbers:
            node.body = ast.BoolOp(ast.Or(), [_noted(numbers[id(node)]).value, node.body])


def _noted(number: int) -> ast.Expr:
    return ast.Expr(ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(number)], []))


def _scopes(function: ast.stmt) -> list[tuple[Any, ...]]:
    """What decides, of a function and of all that are defined in it, which names are local and how it runs."""
    found = []
    waiting = [compile(ast.Module([function], []), "<function>", "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        names = (frozenset(code.co_varnames), frozenset(code.co_cellvars), frozenset(code.co_freevars))
        found.append((code.co_name, code.co_flags, code.co_argcount, code.co_kwonlyargcount, *names))
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found
