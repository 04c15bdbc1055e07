"""Courses of an exercise or two, for tests of the judge: their name, what they may import, and how they are written."""

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
