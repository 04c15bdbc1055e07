"""Prints a learner's feedback on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.learning.order import short_name
from autograder.reports.safety import printable
from autograder.sections import where_to_read
from autograder.wording import clean, in_points, points_in_words
from course.syllabus import Exercise, Lesson

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
    offers_hints: bool = False,
) -> None:
    """Print a line per exercise, what is wrong with those that fail, the total, and which file this is about.

    Args:
        hints: number of hints to show per exercise.
        file: the file to name, if not by the name that the result has.
        exact: whether to show failing calls as code with full precision.
        offers_hints: whether to say how to get a hint, below each exercise that fails.
    """
    if len(result.exercises) != 1:
        screen.print(Text(lesson.title, style="bold"))
    if result.status != "graded":
        screen.print(Text(printable(f"  {result.status}: {result.message}"), style="red"))
    elif result.message:
        screen.print(Text(printable(f"  Note: {result.message}"), style="yellow"))
    width = max((len(exercise.name) for exercise in result.exercises), default=0)
    for exercise in result.exercises:
        _print_exercise(screen, lesson, exercise, width, hints)
        listed = _listed(lesson, exercise)
        if offers_hints and listed and hints < len(listed.hints) and not _is_right_or_empty(exercise):
            _print_indented(screen, f"Stuck? backprop hint {short_name(listed)}", "magenta")
        if exact and not _is_right_or_empty(exercise):
            _print_code(screen, exercise.code)
    worth = points_in_words(result.points, result.max_points, visible_only=result.visible_only)
    screen.print(Text(EXCUSED if result.status == EXCUSED else worth, style="bold"))
    if result.visible_only:
        screen.print(Text("Hidden cases run when your work is graded.", style="dim"))
    label = "Graded: " if result.status == "graded" else "File: "
    graded = Text.assemble(label, clean(str(file or result.file), 300), f" ({result.sha256[:12]})")
    graded.stylize("dim")
    screen.print(graded, soft_wrap=True)


def _print_exercise(screen: Console, lesson: Lesson, exercise: ExerciseResult, width: int, hints: int) -> None:
    glyph, style = GLYPHS.get(exercise.status, WRONG)
    points = f"{in_points(exercise.points)}/{in_points(exercise.max_points)}"
    listed = _listed(lesson, exercise)
    tier = listed.tier if listed else ""
    status = "" if exercise.status == "passed" else exercise.status + ("  (stretch)" if tier == "stretch" else "")
    screen.print(Text.assemble((f"  {glyph} ", style), f"{exercise.name:{width}}  {points:>7}  ", (status, style)))
    if not _is_right_or_empty(exercise):
        _print_indented(screen, printable(exercise.message))
        if listed:
            _print_indented(screen, f"Section: {where_to_read(listed)}", "cyan")
    if exercise.status != "passed" and listed:
        for number, hint in enumerate(listed.hints[:hints], 1):
            _print_indented(screen, f"Hint {number}: {hint}", "magenta")


def _print_indented(screen: Console, text: str, style: str = "") -> None:
    screen.print(Padding(Text(text, style=style), (0, 0, 0, 6), expand=False))


def _listed(lesson: Lesson, result: ExerciseResult) -> Exercise | None:
    """The exercise of a result; None if the lesson no longer has it, because the result is older."""
    return next((one for one in lesson.exercises if one.name == result.name), None)


def _print_code(screen: Console, code: str) -> None:
    """Print the failing call as code to copy, unindented and with unbroken lines."""
    if code:
        screen.print("      This case as code, with every digit:", style="bold", soft_wrap=True)
        screen.print(Text(printable(code)), soft_wrap=True)
    else:
        screen.print("      This case has no code: no single call of yours makes it.", style="bold", soft_wrap=True)


def _is_right_or_empty(exercise: ExerciseResult) -> bool:
    return exercise.status == "passed" or exercise.message == f"{exercise.name} is not written yet."
