"""Which mutants a lesson's reference has, and whose checks must notice them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.authoring.mutation.operators import mutations
from autograder.authoring.mutation.text import Source, Splice
from autograder.diagnosis import Edit
from course.syllabus import Lesson

_MARK = re.compile(r"# %%(?P<options>.*)")
_EXERCISE = re.compile(r'exercise="([^"]*)"')


@dataclass(frozen=True)
class Mutant:
    """The reference of a lesson with one small change."""

    id: str
    part: str
    """The exercise that it is in, or the helper."""
    change: Edit
    """How it reads: in which function, and the lines before and after."""
    exercises: tuple[str, ...]
    """Those whose checks are asked, in this order: its own, those that use it, the others, whose checks may."""
    line: int
    nth: int
    """Which one, from 1, of the mutants of its function that read the same."""
    splice: Splice


@dataclass(frozen=True)
class _Cell:
    """A cell of code: its lines, from 1, both ends included."""

    first: int
    last: int
    exercise: str
    is_helper: bool


def mutants_of(lesson: Lesson, text: str) -> dict[str, list[Mutant]]:
    """The mutants of a lesson's source `text`, by the part of it that they are in: exercises and helpers, in order.

    Each mutant is Python, and no two of them are the same program.
    """
    source = Source(text)
    cells = list(_cells(text.splitlines()))
    names = [exercise.name for exercise in lesson.exercises]
    users = _users(source, cells, names)
    found: dict[str, list[Mutant]] = {}
    alike: Counter[Edit] = Counter()
    for cell in cells:
        if not cell.exercise and not cell.is_helper:
            continue
        regions = [(cell.first, cell.last)] if cell.is_helper else _solutions(text.splitlines(), cell)
        asked = tuple(dict.fromkeys([*([cell.exercise] if cell.exercise else []), *users[cell], *names]))
        for splice in _splices(source, regions):
            part = cell.exercise or _name(source.statement(splice.start))
            change = Edit(source.function(splice.start) or part, *source.lines_of(splice))
            alike[change] += 1
            numbered = found.setdefault(part, [])
            numbered.append(
                Mutant(
                    id=f"{lesson.slug}/{part}/{len(numbered) + 1}",
                    part=part,
                    change=change,
                    exercises=asked,
                    line=source.line(splice.start),
                    nth=alike[change],
                    splice=splice,
                )
            )
    return found


def _splices(source: Source, regions: list[tuple[int, int]]) -> list[Splice]:
    """Those of all statements that lie in `regions`, each different from the source and from the others."""
    seen = {ast.dump(ast.parse(source.text(node))) for node in source.tree.body}
    splices = []
    for node in _outermost(source.tree, regions):
        for splice in sorted(set(mutations(source, node))):
            tree = source.tree_after(splice)
            if tree is not None and tree not in seen:
                seen.add(tree)
                splices.append(splice)
    return splices


def _outermost(tree: ast.AST, regions: list[tuple[int, int]]) -> Iterator[ast.stmt]:
    """The statements that lie in a region and in no other statement that does."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt) and any(a <= node.lineno and (node.end_lineno or 0) <= b for a, b in regions):
            yield node
        else:
            yield from _outermost(node, regions)


def _cells(lines: list[str]) -> Iterator[_Cell]:
    """The cells of code of a py:percent file."""
    starts = [(number, match["options"]) for number, line in enumerate(lines, 1) if (match := _MARK.fullmatch(line))]
    for (first, options), (after, _) in zip(starts, [*starts[1:], (len(lines) + 1, "")], strict=True):
        if "[markdown]" not in options:
            exercise = _EXERCISE.search(options)
            yield _Cell(first + 1, after - 1, exercise[1] if exercise else "", '"solution"' in options)


def _solutions(lines: list[str], cell: _Cell) -> list[tuple[int, int]]:
    """The lines between nbgrader's marks in a cell."""
    marks = {what: [n for n in range(cell.first, cell.last + 1) if what in lines[n - 1]] for what in ("BEGIN", "END")}
    begins, ends = (
        [n for n in marks[what] if lines[n - 1].strip() == f"### {what} SOLUTION"] for what in ("BEGIN", "END")
    )
    return list(zip(begins, ends, strict=True))


def _users(source: Source, cells: list[_Cell], exercises: list[str]) -> dict[_Cell, list[str]]:
    """The exercises that use each cell's functions, by name, directly or through others."""
    defined: dict[_Cell, set[str]] = {}
    used: dict[_Cell, set[str]] = {}
    for cell in cells:
        statements = [node for node in source.tree.body if cell.first <= node.lineno <= cell.last]
        nodes = [inner for node in statements for inner in ast.walk(node)]
        defined[cell] = {_name(node) for node in statements}
        defined[cell] |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        used[cell] = {n.id for n in nodes if isinstance(n, ast.Name)}
        used[cell] |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    users: dict[_Cell, list[str]] = {cell: [] for cell in cells}
    for exercise in exercises:
        reached = {cell for cell in cells if cell.exercise == exercise}
        while more := {c for c in cells if c not in reached and any(defined[c] & used[r] for r in reached)}:
            reached |= more
        for cell in reached:
            users[cell].append(exercise)
    return users


def _name(statement: ast.stmt) -> str:
    """What a statement of the top level defines; empty if nothing."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""
