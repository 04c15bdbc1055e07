"""How far the grading of a class is: a bar on a terminal, now and then a line elsewhere."""

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
"""Lines that a run has at least where there is no terminal, if it has as many results."""
SILENCE = 30.0
"""Seconds after which the next result is worth a line."""

Advance = Callable[[SubmissionResult, int], None]


@contextmanager
def progress(total: int) -> Iterator[Advance]:
    """A function to call with each result as it becomes known, and with how many there will be."""
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
    """Submissions a second, over the last half a minute."""

    def render(self, task: Task) -> Text:
        return Text(_rate(task))


class _Lines:
    """The first result, the last, one for each step of the way, and one after a long silence."""

    def __init__(self, screen: Console, task: Task) -> None:
        self._screen = screen
        self._task = task
        self._step = -1
        self._said = time.monotonic()

    def say(self, result: SubmissionResult) -> None:
        """Print the line of a result, if it is time for one."""
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
