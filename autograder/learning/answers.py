"""Extracts the answer to each exercise from a learner's file."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autograder.submission import Cell, Submission
from course.syllabus import Lesson


def answers(submission: Submission, lesson: Lesson) -> dict[str, str]:
    """The code of the answers in a submission, by exercise, in the lesson's order.

    An answer consists of the cells that are marked as the exercise's, and of definitions of its name in unmarked cells.
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
    """Each name that a source defines at its top level, with the range of its lines: `lines[first:after]`.

    Functions, classes and assignments count: `Tensor.backward = backward` defines `Tensor.backward`. Empty if the
    source is not Python.
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
    """The first line of a statement, from 1, decorators included."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])


def _defined(cell: Cell, names: list[str]) -> Iterable[tuple[str, str]]:
    lines = cell.source.split("\n")
    for name, first, after in definitions(cell.source):
        if name in names:
            yield name, "\n".join(lines[first:after])
