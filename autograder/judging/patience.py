"""What the judge itself may spend on one submission: reading its answers, comparing them, naming what is wrong.

Answers are bounded in size, but what is done with them need not take time in proportion: a check may sort them, pass
them to a reference, search them for each other. So the judge's own processor time is bounded, too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from autograder.judging.errors import TimedOut

JUDGING_SECONDS = 120.0
"""Of processor time. A right submission takes a few, the dearest lesson's."""
STEP_SECONDS = 1.0
"""Once all is spent, each further check has this much."""
T = TypeVar("T")


class Patience:
    """The processor time that is left for judging one submission.

    Counted by a timer of the process, so that waiting for the submission costs nothing of it, nor does a busy machine.
    Python looks at the timer between its own steps; one step of NumPy is bounded by the size of what it works on. Only
    the main thread can be interrupted: anywhere else, and on Windows, there is no such bound.
    """

    def __init__(self, seconds: float = JUDGING_SECONDS) -> None:
        self._seconds = seconds
        self._left = seconds
        self._spending = False

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Work on what a submission has sent. `TimedOut` where that takes more than is left, wherever the work is."""
        if not _can_interrupt():
            yield
            return
        before = signal.signal(signal.SIGPROF, self._end)
        self._spending = True
        signal.setitimer(signal.ITIMER_PROF, self._left or STEP_SECONDS, STEP_SECONDS)
        try:
            yield
        finally:
            self._spending = False  # a signal from now on comes too late
            left, _ = signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)
            self._left = min(self._left, left)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self._spending:
            return
        self._left = 0.0
        raise TimedOut(
            f"To judge the answers took more than {self._seconds:g} seconds: they are no answers to what was asked."
        )


def unhurried(compute: Callable[[], T]) -> T:
    """What is computed once for a whole class, such as what a known mistake gives, at no submission's expense."""
    if not _can_interrupt():
        return compute()
    left, interval = signal.setitimer(signal.ITIMER_PROF, 0.0)
    try:
        return compute()
    finally:
        if left:
            signal.setitimer(signal.ITIMER_PROF, left, interval)


def _can_interrupt() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
