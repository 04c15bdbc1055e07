"""`backprop solution`: shows the model solution beside the learner's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.completion import lessons_and_exercises
from autograder.commands.exits import ExitStatus

if TYPE_CHECKING:
    from rich.console import Console

    from course.syllabus import Exercise

BESIDE = 140
"""Minimum terminal width for showing two pieces of code side by side, each with lines of about 60 characters."""


def solution(
    target: Annotated[
        str, typer.Argument(metavar="LESSON/EXERCISE", help="As ch06/relu_vjp.", autocompletion=lessons_and_exercises)
    ],
    anyway: Annotated[bool, typer.Option("--anyway", help="Also where my own has not passed yet.")] = False,
) -> None:
    """Show the model solution beside my own.

    For an exercise that I have passed.
    """
    from autograder.commands.console import console, give_up, say
    from autograder.commands.targets import find_exercise
    from autograder.learning import order, progress
    from autograder.learning.solutions import NoSolutions
    from autograder.submission import SubmissionError

    exercise, file = find_exercise(target, Path.cwd())
    known = progress.read(file.parent)
    if known.problem:
        say(known.problem)
    if not known.has_passed(exercise) and not anyway:
        name = order.short_name(exercise)
        give_up(
            f"{exercise.name} has not passed a check yet: 'backprop hint {name}' helps, and --anyway shows the model "
            "solution all the same",
            code=ExitStatus.FAILED,
        )
    try:
        print_solution(console(), exercise, file, has_passed=known.has_passed(exercise))
    except NoSolutions as error:
        give_up(str(error), code=ExitStatus.FAILED)
    except SubmissionError as error:
        give_up(f"{file}: {error}")


def print_solution(screen: Console, exercise: Exercise, file: Path, *, has_passed: bool) -> None:
    """Print the answer in `file` and the model solution, with the reason for it.

    Raises:
        NoSolutions: this copy of the course has no solutions.
        SubmissionError: the file cannot be read.
    """
    from autograder.learning.answers import answers
    from autograder.learning.solutions import in_a_line, solution_of
    from autograder.reading.labels import title_of
    from autograder.sections import where_to_read
    from autograder.submission import read_submission
    from course.syllabus import find_lesson

    model = solution_of(exercise)
    own = answers(read_submission(file), find_lesson(exercise.lesson)).get(exercise.name, "")
    if not has_passed:
        screen.print("Your own has not passed yet. Once you have read this, write it again without looking.")
    _print_both(screen, own or "(nothing yet)", model)
    if in_a_line(exercise):
        screen.print(f"In a line: {in_a_line(exercise)}", style="magenta")
    if exercise.why:
        screen.print(f"Why: {exercise.why}", style="green")
    title = title_of(exercise)
    screen.print(f"Section: {where_to_read(exercise)}{f' ({title})' if title else ''}", style="cyan", soft_wrap=True)


def _print_both(screen: Console, own: str, model: str) -> None:
    """Print both side by side if there is room, else one above the other, ready to copy."""
    from rich.table import Table
    from rich.text import Text

    from autograder.reports.safety import printable

    mine, theirs = Text(printable(own)), Text(printable(model))
    if screen.width >= BESIDE:
        table = Table("yours", "the model solution", box=None, pad_edge=False, padding=(0, 2), header_style="bold")
        table.add_row(mine, theirs)
        screen.print(table)
        return
    for title, code in (("Yours", mine), ("The model solution", theirs)):
        screen.print(f"{title}:", style="bold")
        screen.print(code, soft_wrap=True)
        screen.print()
