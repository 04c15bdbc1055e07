"""The table of a class on the terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from autograder.diagnosis.wording import clean
from autograder.judging.results import ExerciseResult, SubmissionResult
from autograder.reports.feedback import GLYPHS, WRONG


def print_class(screen: Console, results: list[SubmissionResult]) -> None:
    """A line for each submission (who, what, points, a mark for each exercise), and below it what stands out."""
    names = [clean(result.student, 40) for result in results]
    who, what = max(map(len, names), default=0), max((len(result.lesson) for result in results), default=0)
    for name, result in zip(names, results, strict=True):
        points = f"{result.points:g}/{result.max_points:g}"
        screen.print(Text(f"{name:{who}}  {result.lesson:{what}}  {points:>9}  ") + _marks(result.exercises))
        note = _note(result)
        if note:
            screen.print(Padding(Text(note, style="dim"), (0, 0, 0, 4), expand=False))
    screen.print()
    screen.print(Text(_legend(results), style="dim"))


def _marks(exercises: list[ExerciseResult]) -> Text:
    marks = Text()
    for exercise in exercises:
        marks.append(*GLYPHS.get(exercise.status, WRONG))
    return marks


def _note(result: SubmissionResult) -> str:
    """The story of a submission: what befell the whole, which exercises ended badly, which mistakes have a name."""
    if result.status != "graded":
        return f"{result.status}: {result.message}"
    ended = [f"{e.name}: {e.status}" for e in result.exercises if e.status in ("timeout", "forbidden", "error")]
    named = [f"{e.name}: {e.misconception.replace('_', ' ')}" for e in result.exercises if e.misconception]
    listed = [*ended, *named]
    more = [f"and {len(listed) - 4} more"] if len(listed) > 4 else []
    return "; ".join([*([result.message] if result.message else []), *listed[:4], *more])


def _legend(results: list[SubmissionResult]) -> str:
    counts = Counter(result.status for result in results)
    summary = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    return f"✓ passed  ◐ partial  ✗ failed  · not written     {len(results)} submissions: {summary}"
