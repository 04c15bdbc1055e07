"""How far the grading of a class is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.diagnosis.wording import clean
from autograder.judging.results import SubmissionResult


@contextmanager
def progress(total: int, unchanged: int) -> Iterator[Callable[[SubmissionResult], None]]:
    """A function to call with each result as it becomes known."""
    screen = Console(stderr=True, markup=False, highlight=False)
    if unchanged:
        screen.print(f"{unchanged} submissions are graded already and have not changed")
    if not screen.is_terminal:

        def say(result: SubmissionResult) -> None:
            points = f"{result.points:g}/{result.max_points:g}"
            screen.print(f"{clean(result.student, 40)} {result.lesson} {points} {result.status}")

        yield say
        return
    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("grading", total=total)
        yield lambda _: bar.advance(task)
