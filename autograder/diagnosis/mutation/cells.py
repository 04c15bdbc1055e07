"""The parts of a lesson's source: which lines are an exercise's reference or a helper, and which exercises use them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.diagnosis.mutation.text import Source

_MARK = re.compile(r"# %%(?P<options>.*)")
_EXERCISE = re.compile(r'exercise="([^"]*)"')


@dataclass(frozen=True)
class Cell:
    """A code cell: its first and last line (inclusive, from 1), its exercise, and whether it is a helper."""

    first: int
    last: int
    exercise: str
    is_helper: bool


def outermost(tree: ast.AST, regions: list[tuple[int, int]]) -> Iterator[ast.stmt]:
    """The outermost statements that lie within one of the regions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt) and any(a <= node.lineno and (node.end_lineno or 0) <= b for a, b in regions):
            yield node
        else:
            yield from outermost(node, regions)


def cells_of(lines: list[str]) -> Iterator[Cell]:
    """The code cells of a py:percent file."""
    starts = [(number, match["options"]) for number, line in enumerate(lines, 1) if (match := _MARK.fullmatch(line))]
    for (first, options), (after, _) in zip(starts, [*starts, (len(lines) + 1, "")][1:], strict=True):
        if "[markdown]" not in options:
            exercise = _EXERCISE.search(options)
            yield Cell(first + 1, after - 1, exercise[1] if exercise else "", '"solution"' in options)


def solutions_in(lines: list[str], cell: Cell) -> list[tuple[int, int]]:
    """The ranges of lines between nbgrader's solution marks in a cell."""
    marks = {what: [n for n in range(cell.first, cell.last + 1) if what in lines[n - 1]] for what in ("BEGIN", "END")}
    begins, ends = (
        [n for n in marks[what] if lines[n - 1].strip() == f"### {what} SOLUTION"] for what in ("BEGIN", "END")
    )
    return list(zip(begins, ends, strict=True))


def users_of(source: Source, cells: list[Cell], exercises: list[str]) -> dict[Cell, list[str]]:
    """For each cell, the exercises that use its functions, directly or through others; matched by name only."""
    defined: dict[Cell, set[str]] = {}
    used: dict[Cell, set[str]] = {}
    for cell in cells:
        statements = [node for node in source.tree.body if cell.first <= node.lineno <= cell.last]
        nodes = [inner for node in statements for inner in ast.walk(node)]
        defined[cell] = {name_of(node) for node in statements}
        defined[cell] |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        used[cell] = {n.id for n in nodes if isinstance(n, ast.Name)}
        used[cell] |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    users: dict[Cell, list[str]] = {cell: [] for cell in cells}
    for exercise in exercises:
        reached = {cell for cell in cells if cell.exercise == exercise}
        while more := {c for c in cells if c not in reached and any(defined[c] & used[r] for r in reached)}:
            reached |= more
        for cell in reached:
            users[cell].append(exercise)
    return users


def name_of(statement: ast.stmt) -> str:
    """The name that a top-level statement defines; empty if none."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def parts_of(source: Source, text: str, exercise: str) -> list[ast.stmt]:
    """The statements of an exercise's reference and of the helpers that it uses."""
    cells = list(cells_of(text.splitlines()))
    users = users_of(source, cells, [exercise])
    found: list[ast.stmt] = []
    for cell in cells:
        if cell.exercise == exercise or (cell.is_helper and exercise in users[cell]):
            regions = [(cell.first, cell.last)] if cell.is_helper else solutions_in(text.splitlines(), cell)
            found += outermost(source.tree, regions)
    return found
