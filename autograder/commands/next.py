"""`backprop next`: names the next exercise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.completion import lessons as lessons_begun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from autograder.learning.progress import Progress
    from course.syllabus import Exercise


IN_WORDS = {"missing": "and a stub since then", "reset": "and a stub since then"}
"""Words for statuses that are not the result of a try."""


Lesson = Annotated[
    str | None,
    typer.Argument(
        metavar="[LESSON]", help="As ch06; all lessons if left out.", autocompletion=lessons_begun, show_default=False
    ),
]


def next_(lesson: Lesson = None) -> None:
    """Say what to do next.

    The exercise, the section that teaches it, and about how long it takes.
    """
    from autograder.commands.console import console, say
    from autograder.commands.targets import lessons_in, lessons_meant, work_folder
    from autograder.learning import order, progress
    from course.syllabus import syllabus

    lessons = lessons_meant(lesson)
    folder = work_folder(Path.cwd())
    known, screen = progress.read(folder), console()
    if known.problem:
        say(known.problem)
    exercise = order.next_exercise(known, lessons, present=lessons_in(folder))
    if exercise is None and lesson is not None:
        screen.print(f"Every exercise of {', '.join(lessons)} passes. 'backprop next' looks at all lessons.")
        return
    if exercise is None:
        screen.print("Every exercise of the course passes. There is nothing left to do but to use it.")
        return
    print_next(screen, exercise, known, folder)
    left = order.optional(known, syllabus()[exercise.lesson])
    if exercise.tier == "core" and left:
        names = ", ".join(one.name for one in left)
        screen.print(f"Optional in this lesson (stretch): {names}", style="dim")


def print_next(screen: Console, exercise: Exercise, known: Progress, folder: Path) -> None:
    """Print the next exercise, with its section, how long it takes and how to check it."""
    for line in _lines(exercise, known, folder):
        screen.print(line, soft_wrap=True)


def _lines(exercise: Exercise, known: Progress, folder: Path) -> Iterator[str]:
    from autograder.commands.targets import lessons_in
    from autograder.learning.order import about_minutes, short_name
    from autograder.reading.labels import title_of
    from autograder.sections import where_to_read
    from autograder.wording import counted
    from course.syllabus import syllabus

    lesson, tried, name = syllabus()[exercise.lesson], known.of(exercise), short_name(exercise)
    minutes = f"about {about_minutes(exercise, lesson)} of the lesson's {lesson.minutes} minutes"
    yield f"Next: {name} ({exercise.tier}, {counted(exercise.points, 'point')}, {minutes})"
    if tried and tried.tries and tried.status != "passed":
        yield f"  Your last try: {when(tried.tried)}, {IN_WORDS.get(tried.status, tried.status)}"
    title = title_of(exercise)
    yield f"  Read:  {where_to_read(exercise)}{f' ({title})' if title else ''}"
    if exercise.lesson not in lessons_in(folder):
        yield f"  Write: its notebook is not here yet; 'backprop start . {lesson.slug}' brings it"
    yield f"  Check: backprop check {name}"


def when(moment: str) -> str:
    """A time in ISO 8601 as local time in words: `27 Nov 2026, 15:30`."""
    from datetime import datetime

    local = datetime.fromisoformat(moment).astimezone()
    return f"{local.day} {local:%b %Y, %H:%M}"
