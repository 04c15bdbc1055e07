"""Changes of a lesson's source, as people would say them: this line of that function becomes that one."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise


class EditError(ValueError):
    """An edit does not find its text, or finds it more than once; the message says which and where."""


@dataclass(frozen=True)
class Edit:
    """In the function or class `where`, the lines `before` become `after`.

    Lines are compared without their indentation and without comments. `after` gets the indentation of what it takes
    the place of, and keeps its own beyond that; empty, it takes lines away.
    """

    where: str
    """`relu_vjp`, `Dual.__add__`, `GELU`; a function within it is found in it."""
    before: str
    after: str

    def applied(self, source: str) -> str:
        """The whole text after the edit. Raises `EditError`."""
        return edited(source, [self])

    def lines_in(self, source: str) -> tuple[int, int]:
        """The lines that it takes the place of, from the first to behind the last, counted from 0. `EditError`."""
        lines = source.splitlines()
        first, last = _region(source, self.where)
        wanted = [_bare(line) for line in self.before.strip().splitlines()]
        places = [
            at
            for at in range(first, last - len(wanted) + 1)
            if [_bare(line) for line in lines[at : at + len(wanted)]] == wanted
        ]
        if len(places) != 1:
            times = f"{len(places)} times the" if places else "no"
            raise EditError(f"{self.where} has {times} line {self.before.strip()!r}")
        return places[0], places[0] + len(wanted)


def edited(source: str, edits: Iterable[Edit]) -> str:
    """The text after several edits, each of which finds its lines in `source` as it is: two may swap two lines.

    Raises `EditError`, also where two edits want the same line.
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
    """Whether a text defines the function or class `where`."""
    try:
        _region(source, where)
    except EditError:
        return False
    return True


def _region(source: str, where: str) -> tuple[int, int]:
    """The lines of a definition, from its first (a decorator, if it has one) to behind its last, counted from 0."""
    try:
        return _definitions(source)[where]
    except KeyError:
        raise EditError(f"there is no {where}") from None


@lru_cache(maxsize=8)  # most edits of a lesson are of one text: to parse it takes longer than all else
def _definitions(source: str) -> dict[str, tuple[int, int]]:
    """The lines of every function and class, by its name with dots; of several of one name, of the last one."""
    found: dict[str, tuple[int, int]] = {}

    def add(body: list[ast.stmt], owner: str) -> None:
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        for node in {node.name: node for node in body if isinstance(node, kinds)}.values():
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[owner + node.name] = first - 1, node.end_lineno or node.lineno
            add(node.body, f"{owner}{node.name}.")

    add(ast.parse(source).body, "")
    return found


def _bare(line: str) -> str:
    """A line without its indentation and its comment. (A # in a string ends it, too: on both sides alike.)"""
    return line.split("  #")[0].strip()


def _dedented(text: str) -> list[str]:
    lines = text.strip("\n").splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]
