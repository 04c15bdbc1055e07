"""What a learner's file has for each exercise: its own cells, or a definition in another one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autograder.submission import Cell, Submission
from course.syllabus import Lesson


def answers(submission: Submission, lesson: Lesson) -> dict[str, str]:
    """The code of each exercise of a lesson that a submission has an answer to, in the lesson's order.

    An answer is the cells that are marked as the exercise's, and definitions of its name in cells that are marked as
    none's.
    """
    names = [exercise.name for exercise in lesson.exercises]
    found: dict[str, list[str]] = {}
    for cell in submission.cells:
        if cell.exercise in names:
            found.setdefault(cell.exercise, []).append(cell.source.strip("\n"))
        else:
            for name, code in _defined(cell, names):
                found.setdefault(name, []).append(code)
    return {name: "\n\n\n".join(found[name]) for name in names if name in found}


def definitions(source: str) -> list[tuple[str, int, int]]:
    """Each name that the top level of a source defines, with its first line and the one after its last, from 0.

    A name is that of a function, a class, or what is assigned to: `Tensor.backward = backward` defines
    `Tensor.backward`. Empty where the source is no Python.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in body:
        lines = _first_line(node) - 1, node.end_lineno or node.lineno
        found += [(name, *lines) for name in _names(node)]
    return found


def _names(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets]
    return []


def _first_line(node: ast.stmt) -> int:
    """With decorators."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])


def _defined(cell: Cell, names: list[str]) -> Iterable[tuple[str, str]]:
    lines = cell.source.split("\n")
    for name, first, after in definitions(cell.source):
        if name in names:
            yield name, "\n".join(lines[first:after])
