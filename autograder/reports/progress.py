"""Shows the progress of grading: a bar on a terminal, otherwise lines from time to time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from autograder.judging.records.results import SubmissionResult
from autograder.reports.screen import Screen
from autograder.wording import clean, in_points

STEPS = 20
"""At least this many lines are printed without a terminal, if there are as many results."""
SILENCE = 30.0
"""Seconds without a line after which the next result gets one."""

Advance = Callable[[SubmissionResult, int], None]


@contextmanager
def progress(total: int) -> Iterator[Advance]:
    """Provide a function to call with each result and the expected total."""
    screen = Screen(stderr=True)
    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("grading", total=total)
        lines = _Lines(screen, bar.tasks[0])

        def advance(result: SubmissionResult, total: int) -> None:
            bar.update(task, total=total, advance=1)
            if bar.disable:
                lines.say(result)

        yield advance


class _Rate(ProgressColumn):
    """Submissions per second over the last half minute."""

    def render(self, task: Task) -> Text:
        return Text(_rate(task))


class _Lines:
    """Prints a line for the first and last result, at each of `STEPS` steps, and after a long silence."""

    def __init__(self, screen: Console, task: Task) -> None:
        self._screen = screen
        self._task = task
        self._step = -1
        self._said = time.monotonic()

    def say(self, result: SubmissionResult) -> None:
        """Print a result's line if one is due."""
        done, total = int(self._task.completed), int(self._task.total or 0)
        step, now = STEPS * done // max(1, total), time.monotonic()
        if step == self._step and done > 1 and now - self._said < SILENCE:
            return
        self._step, self._said = step, now
        points = f"{in_points(result.points)}/{in_points(result.max_points)}"
        what = f"{clean(result.student, 40)} {result.lesson} {points} {result.status}"
        left = self._task.time_remaining
        parts = [what, _rate(self._task), f"{_span(left)} left" if left else ""]
        self._screen.print(f"{done:,}/{total:,}  " + "  ".join(part for part in parts if part), soft_wrap=True)


def _rate(task: Task) -> str:
    return f"{task.speed:.1f}/s" if task.speed else ""


def _span(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
