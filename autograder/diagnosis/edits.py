"""Edits of a lesson's source in terms of lines: in this function, this line becomes that one."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise


class EditError(ValueError):
    """An edit's text is missing from the source or occurs more than once; the message says which and where."""


@dataclass(frozen=True)
class Edit:
    """In the function or class `where`, the lines `before` become `after`.

    Lines are compared without indentation and comments. `after` gets the indentation of the lines that it replaces,
    plus its own; if it is empty, the lines are removed.
    """

    where: str
    """`relu_vjp`, `Dual.__add__`, `GELU`; includes the functions nested in it."""
    before: str
    after: str

    def applied(self, source: str) -> str:
        """The source after the edit. Raises `EditError`."""
        return edited(source, [self])

    def lines_in(self, source: str) -> tuple[int, int]:
        """The range of lines to replace: first, and one past the last, counted from 0. Raises `EditError`."""
        lines = source.splitlines()
        first, last = _region(source, self.where)
        wanted = [_without_comment(line) for line in self.before.strip().splitlines()]
        places = [
            at
            for at in range(first, last - len(wanted) + 1)
            if [_without_comment(line) for line in lines[at : at + len(wanted)]] == wanted
        ]
        if len(places) != 1:
            times = f"{len(places)} times the" if places else "no"
            raise EditError(f"{self.where} has {times} line {self.before.strip()!r}")
        return places[0], places[0] + len(wanted)


def edited(source: str, edits: Iterable[Edit]) -> str:
    """The source after several edits, each of which finds its lines in the original, so that two can swap two lines.

    Raises `EditError` if an edit does not apply or two edits overlap.
    """
    lines = source.splitlines()
    found = sorted(((*edit.lines_in(source), edit) for edit in edits), key=lambda one: one[:2])
    for (_, last, edit), (first, _, other) in pairwise(found):
        if first < last:
            raise EditError(f"{other.where}: {edit.before.strip()!r} and {other.before.strip()!r} are the same line")
    for first, last, edit in reversed(found):
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        lines[first:last] = [f"{indent}{line}" if line.strip() else "" for line in _dedented(edit.after)]
    return "\n".join(lines) + "\n"


def has(source: str, where: str) -> bool:
    """Whether a source defines the function or class `where`."""
    try:
        _region(source, where)
    except EditError:
        return False
    return True


def _region(source: str, where: str) -> tuple[int, int]:
    """The lines of a definition with its decorators: first, and one past the last, counted from 0."""
    try:
        return _definitions(source)[where]
    except KeyError:
        raise EditError(f"there is no {where}") from None


@lru_cache(maxsize=8)  # most edits of a lesson share a source, and parsing it costs most
def _definitions(source: str) -> dict[str, tuple[int, int]]:
    """The lines of every function and class by dotted name; of several with one name, the last counts."""
    found: dict[str, tuple[int, int]] = {}

    def add(body: list[ast.stmt], owner: str) -> None:
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        for node in {node.name: node for node in body if isinstance(node, kinds)}.values():
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[owner + node.name] = first - 1, node.end_lineno or node.lineno
            add(node.body, f"{owner}{node.name}.")

    add(ast.parse(source).body, "")
    return found


def _without_comment(line: str) -> str:
    """A line without indentation and comment. (A "  #" in a string also ends it, the same way on both sides.)"""
    return line.split("  #")[0].strip()


def _dedented(text: str) -> list[str]:
    lines = text.strip("\n").splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]
