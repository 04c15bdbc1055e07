"""`backprop new`: creates the files of a new exercise, lesson or course."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.exits import ExitStatus

if TYPE_CHECKING:
    from autograder.authoring.tree import Course

KINDS = {"exercise": 1, "lesson": 1, "course": 2}
"""Number of words that follow each kind."""
USAGE = (
    "type 'backprop new exercise ch06/abs_vjp', 'backprop new lesson ch15_kernels/tile_sum' "
    "or 'backprop new course my-course ch01_powers/power'"
)

TAKEN_OVER = """\
{slug} was this project's lesson. The course in {folder} has taken it over, with its solution and its chapter: \
what this project corrects in it from now on, that copy does not get by itself.
"""


def new(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[exercise] LESSON/NAME | lesson LESSON/NAME | course DIR LESSON/NAME",
            help="ch06/abs_vjp: a lesson and the name of a function or class. Lessons and courses begin with one.",
            show_default=False,
        ),
    ],
    after: Annotated[
        str, typer.Option(help="Of an exercise: the one that it comes after; the lesson's last.", show_default=False)
    ] = "",
    title: Annotated[
        str,
        typer.Option(help="Of a lesson or a course: what it is called; else its name in words.", show_default=False),
    ] = "",
    part: Annotated[
        str, typer.Option(help="Of a lesson: the part of the course; else that of the one before.", show_default=False)
    ] = "",
    stretch: Annotated[bool, typer.Option("--stretch", help="Beyond the core.")] = False,
) -> None:
    """Create the files of an exercise, a lesson or a course; `build --check` then lists what to write."""
    from autograder.commands.console import echo, give_up

    kind, rest = (words[0], words[1:]) if words[0] in KINDS else ("exercise", words)
    if len(rest) != KINDS[kind]:
        give_up(USAGE)
    slug, _, name = rest[-1].partition("/")
    if not slug or not name:
        give_up(f"{rest[-1]} names no exercise; write the lesson and the function: '{slug or 'ch06'}/abs_vjp', say")
    if after and kind != "exercise":
        give_up("--after is of an exercise; a lesson's place is its number")
    if (title or part) and kind == "exercise":
        give_up("--title and --part are of a lesson or a course; an exercise is called by its function")

    from autograder.authoring.lesson_skeleton import new_course, new_lesson
    from autograder.authoring.skeleton import new_exercise
    from autograder.authoring.tree import AuthoringError
    from autograder.commands.courses import trust_what_was_made

    tier, folder = "stretch" if stretch else "core", Path()
    try:
        if kind == "course":
            folder = Path(rest[0])
            course = new_course(folder, slug, name, title=title, part=part, tier=tier)
            trust_what_was_made(course.root, course.root)
            files = sorted(path for path in course.root.rglob("*") if path.is_file())
        elif kind == "lesson":
            course = _checkout()
            files = new_lesson(course, slug, name, title=title, part=part, tier=tier)
        else:
            from autograder.commands.targets import lesson_and_part

            course = _checkout()
            lesson, _ = lesson_and_part(course, rest[0])
            extended = course.of(lesson.slug) is not course
            files = new_exercise(course, lesson.slug, name, after=after, tier=tier)
            if extended:
                echo(TAKEN_OVER.format(slug=lesson.slug, folder=course.root))
    except (AuthoringError, KeyError) as error:
        give_up(str(error.args[0]), code=ExitStatus.FAILED)
    except OSError as error:
        give_up(f"{error.filename}: {error.strerror}", code=ExitStatus.FAILED)
    for file in files:
        echo(folder / course.relative(file))
    begun = rest[-1] if kind == "exercise" else slug
    there = course.is_own and not Path.cwd().is_relative_to(course.root)
    check = f"backprop build --check {begun}" + (
        f" --course {course.root if kind != 'course' else folder}" if there else ""
    )
    echo(f"\nWrite what says WRITE ME; '{check}' lists it, and then what else is missing.")


def _checkout() -> Course:
    """The course being served; ends the command without its solutions."""
    from autograder.authoring.tree import Course
    from autograder.commands.targets import refuse_without_solutions

    refuse_without_solutions("new", "a checkout of the course, with its book and its tests")
    return Course.at()
