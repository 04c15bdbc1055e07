"""`backprop hint`: shows an exercise's hints, one more at each call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.completion import lessons_and_exercises

if TYPE_CHECKING:
    from rich.console import Console

    from course.syllabus import Exercise


def hint(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[LESSON/EXERCISE]",
            help="As ch06/relu_vjp; the exercise that 'backprop next' names if left out.",
            autocompletion=lessons_and_exercises,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show a hint, and at each further call one more. Nothing is graded."""
    from autograder.commands.console import console, give_up, say
    from autograder.commands.targets import find_exercise, lessons_in, work_folder
    from autograder.learning import order, progress
    from course.syllabus import syllabus

    if target is not None:
        exercise, file = find_exercise(target, Path.cwd())
        folder = file.parent
    else:
        folder = work_folder(Path.cwd())
        coming = order.next_exercise(progress.read(folder), syllabus(), present=lessons_in(folder))
        exercise = coming or give_up("every exercise of the course passes: name the one whose hints you want")
    if problem := print_hints(console(), exercise, folder):
        say(problem)


def print_hints(screen: Console, exercise: Exercise, folder: Path, how: str = "") -> str:
    """Print the hints that were shown before, and the next.

    Args:
        folder: the work folder, whose progress says how many were shown.
        how: what to type for the next hint, if not this command.

    Returns:
        A line if the number of hints cannot be recorded in `folder`; else an empty one.
    """
    from rich.padding import Padding
    from rich.text import Text

    from autograder.learning import order, progress
    from autograder.learning.solutions import has_solutions

    name = order.short_name(exercise)
    if not exercise.hints:
        screen.print(f"{name} has no hints.")
        return ""
    tried = progress.read(folder).of(exercise)
    shown = min((tried.hints if tried else 0) + 1, len(exercise.hints))
    for number, text in enumerate(exercise.hints[:shown], 1):
        screen.print(f"{name}, hint {number} of {len(exercise.hints)}:", style="bold", soft_wrap=True)
        screen.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
    if shown < len(exercise.hints):
        screen.print(f"Next hint: {how or f'backprop hint {name}'}", style="dim", soft_wrap=True)
    elif has_solutions(exercise.lesson):
        passed = tried is not None and tried.passed
        anyway = "" if passed else " --anyway"
        screen.print(f"The model solution: backprop solution {name}{anyway}", style="dim", soft_wrap=True)
    return progress.note_hints(folder, exercise, shown)
