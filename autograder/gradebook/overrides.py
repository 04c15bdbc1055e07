"""Reads the teacher's decisions on students' exercises, which replace the grader's points.

    [[override]]
    student = "ada@example.edu"       # the name in reports, the folder's name, or any id of the roster
    lesson = "ch06"
    exercise = "relu_vjp"             # left out: the whole lesson
    points = 2
    comment = "right by another way; we talked about it"

The file is beside the results, and grading never changes it, so its decisions survive every regrading.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.gradebook.table_file import TableError, lesson_called, number, read_toml, refuse_unknown, tables, text

OVERRIDES = "overrides.toml"
"""File name, in the folder of results."""


@dataclass(frozen=True)
class Override:
    """Points and a comment; for the whole lesson if `exercise` is empty."""

    student: str
    lesson: str
    exercise: str
    points: float
    comment: str
    where: str


def read_overrides(file: Path) -> list[Override]:
    """The overrides in a file; empty if there is no file.

    Raises:
        TableError: the file has an error.
    """
    if not file.exists():
        return []
    data = read_toml(file)
    refuse_unknown(data, ("override",), str(file))
    found: dict[tuple[str, str, str], Override] = {}
    for table, where in tables(data, "override", file):
        refuse_unknown(table, ("student", "lesson", "exercise", "points", "comment"), where)
        if "points" not in table:
            raise TableError(f"{where}: say how many points")
        student, name = text(table, "student", where), text(table, "exercise", where, "")
        lesson = lesson_called(table.get("lesson"), where)
        worth = {one.name: one.points for one in lesson.exercises}
        if name and name not in worth:
            raise TableError(f"{where}: {lesson.slug} has no exercise {name!r}")
        points = number(table, "points", where, most=worth[name] if name else lesson.points)
        key = (student, lesson.slug, name)
        if key in found:
            raise TableError(f"{where}: {found[key].where.rpartition(': ')[2]} says another thing of the same")
        found[key] = Override(*key, points, text(table, "comment", where, ""), where)
    return list(found.values())
