"""Prints a learner's feedback on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.reports.safety import printable
from autograder.sections import where_to_read
from autograder.wording import clean, counted, in_points, points_in_words
from course.syllabus import Lesson

GLYPHS = {"passed": ("✓", "green"), "partial": ("◐", "yellow"), "missing": ("·", "dim")}
WRONG = ("✗", "red")


def print_feedback(
    screen: Console,
    lesson: Lesson,
    result: SubmissionResult,
    *,
    hints: int,
    file: Path | None = None,
    exact: bool = False,
) -> None:
    """Print a line per exercise, what is wrong with those that fail, and the total.

    Args:
        hints: number of hints to show per exercise.
        exact: whether to show failing calls as code with full precision.
    """
    screen.print(
        Text.assemble(
            (f"{lesson.title}", "bold"), f"  {clean(str(file or result.file), 300)}  ", (result.sha256[:12], "dim")
        )
    )
    if result.status != "graded":
        screen.print(Text(printable(f"  {result.status}: {result.message}"), style="red"))
    elif result.message:
        screen.print(Text(printable(f"  Note: {result.message}"), style="yellow"))
    width = max((len(exercise.name) for exercise in result.exercises), default=0)
    for exercise in result.exercises:
        _print_exercise(screen, lesson, exercise, width, hints)
        if exact and exercise.status != "passed" and not _not_started(exercise):
            _print_code(screen, exercise.code)
    worth = points_in_words(result.points, result.max_points, visible_only=result.visible_only)
    screen.print(Text(EXCUSED if result.status == EXCUSED else worth, style="bold"))
    if result.visible_only:
        screen.print(Text("Hidden cases run when your work is graded.", style="dim"))


def _print_exercise(screen: Console, lesson: Lesson, exercise: ExerciseResult, width: int, hints: int) -> None:
    glyph, style = GLYPHS.get(exercise.status, WRONG)
    points = f"{in_points(exercise.points)}/{in_points(exercise.max_points)}"
    listed = next((one for one in lesson.exercises if one.name == exercise.name), None)  # results may be older
    tier = listed.tier if listed else ""
    status = "" if exercise.status == "passed" else exercise.status + ("  (stretch)" if tier == "stretch" else "")
    if exercise.status == "partial":
        status += f"  {sum(check.passed for check in exercise.checks)} of {counted(len(exercise.checks), 'check')} pass"
    screen.print(Text.assemble((f"  {glyph} ", style), f"{exercise.name:{width}}  {points:>7}  ", (status, style)))
    if exercise.status != "passed" and not _not_started(exercise):
        screen.print(Padding(Text(printable(exercise.message)), (0, 0, 0, 6), expand=False))
        if listed:
            section = Text(f"Section: {where_to_read(listed)}", style="cyan")
            screen.print(Padding(section, (0, 0, 0, 6), expand=False))
    if exercise.status != "passed" and listed:
        for number, hint in enumerate(listed.hints[:hints], 1):
            screen.print(Padding(Text(f"Hint {number}: {hint}", style="magenta"), (0, 0, 0, 6), expand=False))


def _print_code(screen: Console, code: str) -> None:
    """Print the failing call as code to copy, unindented and with unbroken lines."""
    if code:
        screen.print("      This case as code, with every digit:", style="bold", soft_wrap=True)
        screen.print(Text(printable(code)), soft_wrap=True)
    else:
        screen.print("      This case has no code: no single call of yours makes it.", style="bold", soft_wrap=True)


def _not_started(exercise: ExerciseResult) -> bool:
    return exercise.message == f"{exercise.name} is not written yet."
