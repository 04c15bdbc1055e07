"""Prints the table of a class on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.reports.class_results import is_work, was_handed_in
from autograder.reports.feedback import GLYPHS, WRONG
from autograder.reports.safety import printable
from autograder.wording import clean, counted, in_points

NAME = 40
"""At most this many characters of a student's name are shown."""


class ClassTable:
    """Prints a line per submission (student, lesson, points, a mark per exercise), and below it what is notable.

    Lines are printed while results are read, so the widths come from `students` and `lessons`, given in advance.
    """

    def __init__(self, screen: Console, students: Iterable[str], lessons: Iterable[str]) -> None:
        self._screen = screen
        self._who, self._what = widths(students, lessons)
        self._statuses: Counter[str] = Counter()

    def add(self, result: SubmissionResult, *, counted: bool = True) -> None:
        """Print the line of a submission. `counted`: whether to count it, False for a team's after its first member."""
        if counted and was_handed_in(result):
            self._statuses[result.status] += 1
        name, worth = clean(result.student, NAME), result.max_points
        points = f"{in_points(result.points)}/{in_points(worth)}" if worth else ""
        line = Text(f"{name:{self._who}}  {result.lesson or '—':{self._what}}  {points:>9}  ")
        self._screen.print(line + _marks(result.exercises))
        note = _note(result)
        if note:
            self._screen.print(Padding(Text(printable(note), style="dim"), (0, 0, 0, 4), expand=False))

    def finish(self) -> None:
        """Print the legend and the counts."""
        self._screen.print()
        legend = "✓ passed  ◐ partial  ✗ failed  · not written"
        self._screen.print(Text(f"{legend}     {count_statuses(self._statuses)}", style="dim"))


class LessonTable:
    """Prints a line per lesson, for classes too large for a line per submission; means are over hand-ins with work."""

    def __init__(self, screen: Console) -> None:
        self._screen = screen
        self._lessons: dict[str, list[float]] = {}
        self._statuses: Counter[str] = Counter()

    def add(self, result: SubmissionResult) -> None:
        """Count a submission; without a result it counts only by status."""
        self._statuses[result.status] += 1
        if not result.max_points:
            return
        counts = self._lessons.setdefault(result.lesson, [0, 0.0, 0.0, 0, 0, 0])
        full, graded = result.points == result.max_points, result.status == "graded"
        for i, more in enumerate((1, result.points, result.max_points, full, not graded, is_work(result))):
            counts[i] += more

    def finish(self) -> None:
        """Print the table and the counts."""
        table = Table("lesson", box=None, padding=(0, 2, 0, 0), header_style="dim")
        for title in ("submissions", "mean points", "of", "all points", "not graded"):
            table.add_column(title, justify="right")
        for lesson, (count, points, most, full, ungraded, worked) in sorted(self._lessons.items()):
            numbers = f"{count:,}", f"{points / max(worked, 1):.1f}", f"{most / count:g}", f"{full:,}", f"{ungraded:,}"
            table.add_row(lesson, *numbers)
        self._screen.print(table)
        self._screen.print()
        self._screen.print(Text(count_statuses(self._statuses), style="dim"))


def widths(students: Iterable[str], lessons: Iterable[str]) -> tuple[int, int]:
    """Widths of the columns of names and lessons."""
    return max((len(clean(name, NAME)) for name in students), default=0), max(map(len, lessons), default=0)


def count_statuses(statuses: Counter[str]) -> str:
    """Numbers of submissions by status, in words."""
    counts = ", ".join(f"{count:,} {status}" for status, count in statuses.most_common())
    return f"{counted(statuses.total(), 'submission')}: {counts}"


def _marks(exercises: list[ExerciseResult]) -> Text:
    marks = Text()
    for exercise in exercises:
        marks.append(*GLYPHS.get(exercise.status, WRONG))
    return marks


def _note(result: SubmissionResult) -> str:
    """Notable facts on a submission: why it was not graded, which exercises ended early, and known mistakes."""
    if result.status != "graded":
        return f"{result.status}: {result.message}"
    ended = [f"{e.name}: {e.status}" for e in result.exercises if e.status in ("timeout", "forbidden", "error")]
    named = [f"{e.name}: {e.misconception.replace('_', ' ')}" for e in result.exercises if e.misconception]
    listed = [*ended, *named]
    more = [f"and {len(listed) - 4} more"] if len(listed) > 4 else []
    first = [result.message.removesuffix(".") if listed else result.message] if result.message else []
    return "; ".join([*first, *listed[:4], *more])
