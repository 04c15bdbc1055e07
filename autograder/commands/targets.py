"""What a learner may name: a lesson, one exercise of it, or a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.commands.console import give_up
from course.syllabus import Lesson, find_lesson, syllabus

SUFFIXES = (".ipynb", ".py")


@dataclass(frozen=True)
class Target:
    """A file to grade as a lesson, and the exercises that were asked for."""

    lesson: Lesson
    file: Path
    exercises: tuple[str, ...]


def find_targets(target: str | None, folder: Path) -> list[Target]:
    """The files that `target` means; without one, every lesson that has a file in `folder`.

    Ends the command with one line when there is nothing to grade.
    """
    if target is None:
        found = [
            Target(lesson, file, _all(lesson)) for lesson in syllabus().values() if (file := _file_of(lesson, folder))
        ]
        return found or give_up(
            f"there is no lesson in {folder}; 'backprop start' puts the notebooks somewhere to work"
        )
    if Path(target).suffix in SUFFIXES:
        return [_of_file(Path(target))]
    slug, _, exercise = target.partition("/")
    lesson = _lesson(slug)
    slug = lesson.slug
    try:
        exercises = (lesson.exercise(exercise).name,) if exercise else _all(lesson)
    except KeyError as error:
        give_up(error.args[0])
    file = _file_of(lesson, folder)
    if file is None:
        give_up(f"there is no {slug}.ipynb or {slug}.py in {folder}; 'backprop start' puts the notebooks there")
    return [Target(lesson, file, exercises)]


def _of_file(file: Path) -> Target:
    if not file.exists():
        give_up(f"there is no file {file}")
    lesson = _lesson(file.stem)
    return Target(lesson, file, _all(lesson))


def _lesson(slug: str) -> Lesson:
    """The lesson called `slug`, or whose name alone begins so: `ch06`, or `ch6`."""
    slug = re.sub(r"^ch(\d)(?!\d)", r"ch0\1", slug)
    begun = [lesson for lesson in syllabus().values() if lesson.slug.startswith(slug)]
    if slug and len(begun) == 1:
        return begun[0]
    for lesson in syllabus().values():
        if slug in _all(lesson):
            give_up(f"{slug} is an exercise: say {lesson.slug}/{slug}")
    try:
        return find_lesson(slug)
    except KeyError as error:
        give_up(error.args[0])


def _file_of(lesson: Lesson, folder: Path) -> Path | None:
    """The lesson's file in `folder` or its `exercises`: the one that was changed last."""
    places = (folder, folder / "exercises")
    files = [place / f"{lesson.slug}{suffix}" for place in places for suffix in SUFFIXES]
    here = [file for file in files if file.is_file()]
    return max(here, key=lambda file: file.stat().st_mtime) if here else None


def _all(lesson: Lesson) -> tuple[str, ...]:
    return tuple(exercise.name for exercise in lesson.exercises)
