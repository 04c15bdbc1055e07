"""Courses of an exercise or two, for tests: their name, what they may import, and how files and rows are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from course.syllabus import Environment, Exercise, Lesson

LESSON = "ch01_small"
ENVIRONMENT = Environment(("numpy",), ())


def of_one(exercise: Exercise) -> Lesson:
    """A lesson that has this exercise alone."""
    return Lesson(LESSON, "Small", "Part", 5, ENVIRONMENT, (exercise,))


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder, with these files in it."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def fill_in_rows(contract: Path, rows: str) -> None:
    """Write into the rows that `backprop build` began in a contract.toml what a contributor writes there."""
    text = contract.read_text(encoding="utf-8")
    for row in rows.strip().split("\n\n"):
        begun = "\n".join([*row.splitlines()[:2], "checks = []\n"])
        assert text.count(begun) == 1, begun
        text = text.replace(begun, f"{row}\n")
    contract.write_text(text, encoding="utf-8")
