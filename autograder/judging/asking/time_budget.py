"""Bounds the judge's own processor time for each submission: decoding, comparing and diagnosing its answers.

Answers are bounded in size, but the work on them need not be linear in it: a check may sort them, pass them to a
reference, or search them for each other.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from autograder.judging.records.errors import TimedOut

JUDGING_SECONDS = 120.0
"""Processor seconds. A right submission takes a few, even in the most expensive lesson."""
STEP_SECONDS = 1.0
"""Processor seconds for each further check once the budget is spent."""
TICK_SECONDS = 0.001
"""Shortest timer, since setting one to 0 disables it."""
T = TypeVar("T")


class TimeBudget:
    """The processor time left for judging one submission.

    It is measured with the process's CPU clock, so waiting for the submission or for a busy machine costs nothing. A
    timer interrupts the work; it counts whole ticks, some of them other processes', so the clock decides whether time
    is up. Python handles the signal between its own steps, and a single step of NumPy is bounded by the size of its
    data. Only the main thread can be interrupted: in other threads, on Windows and in a browser there is no bound.
    """

    _working: TimeBudget | None = None
    """The budget that is being spent in this process now."""

    def __init__(self, seconds: float = JUDGING_SECONDS) -> None:
        self._seconds = seconds
        self._left = seconds
        self._until = 0.0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Charge the work inside to this budget. Raises `TimedOut` in the middle of it when the budget is spent."""
        if not can_interrupt():
            yield
            return
        before = signal.signal(signal.SIGPROF, self._on_timer)
        TimeBudget._working = self
        self._set_timer(self._left or STEP_SECONDS)
        try:
            yield
        finally:
            TimeBudget._working = None  # signals that arrive from now on are ignored
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)
            self._left = min(self._left, max(0.0, self._until - time.process_time()))

    def _set_timer(self, seconds: float) -> None:
        self._until = time.process_time() + seconds
        signal.setitimer(signal.ITIMER_PROF, max(seconds, TICK_SECONDS), STEP_SECONDS)

    def _on_timer(self, number: int, frame: FrameType | None) -> None:
        if TimeBudget._working is not self:
            return
        left = self._until - time.process_time()
        if left > 0:
            self._set_timer(left)
            return
        self._left = 0.0
        self._until += STEP_SECONDS
        raise TimedOut(
            f"To judge the answers took more than {self._seconds:g} seconds: they are no answers to what was asked."
        )


def unhurried(compute: Callable[[], T]) -> T:
    """Call `compute` without charging the submission, for results that serve a whole class."""
    budget = TimeBudget._working
    if budget is None or not can_interrupt():
        return compute()
    left = budget._until - time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    TimeBudget._working = None
    try:
        return compute()
    finally:
        TimeBudget._working = budget
        budget._set_timer(max(left, TICK_SECONDS))


def can_interrupt() -> bool:
    """Whether a timer can interrupt this thread; in a browser, Python has the function but no timer."""
    return (
        sys.platform != "emscripten"
        and hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
    )
