"""What the judge itself may spend on one submission: reading its answers, comparing them, naming what is wrong.

Answers are bounded in size, but what is done with them need not take time in proportion: a check may sort them, pass
them to a reference, search them for each other. So the judge's own processor time is bounded, too.
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
"""Of processor time. A right submission takes a few, the dearest lesson's."""
STEP_SECONDS = 1.0
"""Once all is spent, each further check has this much."""
TICK_SECONDS = 0.001
"""A timer set to nothing would never ring."""
T = TypeVar("T")


class TimeBudget:
    """The processor time that is left for judging one submission.

    Counted by the process's clock, so that waiting for the submission costs nothing of it, nor does a busy machine. A
    timer interrupts the work; it counts whole ticks, some of them another process's, so the clock decides. Python looks
    at the timer between its own steps; one step of NumPy is bounded by the size of what it works on. Only the main
    thread can be interrupted: anywhere else, and on Windows, there is no such bound.
    """

    _working: TimeBudget | None = None
    """Whose work goes on now, in this process."""

    def __init__(self, seconds: float = JUDGING_SECONDS) -> None:
        self._seconds = seconds
        self._left = seconds
        self._until = 0.0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Work on what a submission has sent. `TimedOut` where that takes more than is left, wherever the work is."""
        if not _can_interrupt():
            yield
            return
        before = signal.signal(signal.SIGPROF, self._end)
        TimeBudget._working = self
        self._go_on(self._left or STEP_SECONDS)
        try:
            yield
        finally:
            TimeBudget._working = None  # a signal from now on comes too late
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)
            self._left = min(self._left, max(0.0, self._until - time.process_time()))

    def _go_on(self, seconds: float) -> None:
        self._until = time.process_time() + seconds
        signal.setitimer(signal.ITIMER_PROF, max(seconds, TICK_SECONDS), STEP_SECONDS)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if TimeBudget._working is not self:
            return
        left = self._until - time.process_time()
        if left > 0:
            self._go_on(left)
            return
        self._left = 0.0
        self._until += STEP_SECONDS
        raise TimedOut(
            f"To judge the answers took more than {self._seconds:g} seconds: they are no answers to what was asked."
        )


def unhurried(compute: Callable[[], T]) -> T:
    """What is computed once for a whole class, such as what a known mistake gives, at no submission's expense."""
    budget = TimeBudget._working
    if budget is None or not _can_interrupt():
        return compute()
    left = budget._until - time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    TimeBudget._working = None
    try:
        return compute()
    finally:
        TimeBudget._working = budget
        budget._go_on(max(left, TICK_SECONDS))


def _can_interrupt() -> bool:
    """Not in a browser, where Python has the function, and no timer."""
    return (
        sys.platform != "emscripten"
        and hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
    )
