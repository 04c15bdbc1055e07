"""`backprop new`: an exercise, begun in all of its places."""

from __future__ import annotations

from typing import Annotated

import typer

from autograder.commands.exits import ExitStatus


def new(
    exercise: Annotated[str, typer.Argument(help="ch06/abs_vjp: a lesson and the name of a function.")],
    after: Annotated[
        str, typer.Option(help="The exercise that it comes after; the lesson's last.", show_default=False)
    ] = "",
    stretch: Annotated[bool, typer.Option("--stretch", help="Beyond the core.")] = False,
) -> None:
    """Begin an exercise in all of its places; `build --check` then says what is still to be written."""
    from autograder.commands.targets import lesson_and_part, refuse_without_solutions

    refuse_without_solutions("new", "a checkout of the course, with its book and its tests")

    from autograder.authoring.skeleton import new_exercise
    from autograder.authoring.tree import AuthoringError, Course
    from autograder.commands.console import give_up

    course = Course.at()
    lesson, name = lesson_and_part(course, exercise)
    if not name:
        give_up(f"{exercise} names no exercise: 'backprop new {exercise}/abs_vjp', say")
    try:
        files = new_exercise(course, lesson.slug, name, after=after, tier="stretch" if stretch else "core")
    except (AuthoringError, KeyError) as error:
        give_up(str(error.args[0]), code=ExitStatus.FAILED)
    for file in files:
        typer.echo(course.relative(file))
    typer.echo(
        f"\nWrite what says WRITE ME; 'backprop build --check {exercise}' lists it, and then what else is missing."
    )
