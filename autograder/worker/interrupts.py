"""Interrupts code that uses too much processor time, by a timer that raises in the main thread."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_SECONDS = 0.1
"""Processor time between repeated interrupts of code that did not stop."""


class TooLong(BaseException):
    """The code ran too long. A `BaseException`, so that ordinary code does not catch it."""


def handle_timer() -> Callable[[], None]:
    """Make the timer of `limited` raise `TooLong` in the main thread; return what undoes this."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TooLong

    def unraisable(dropped: sys.UnraisableHookArgs) -> None:
        if not isinstance(dropped.exc_value, TooLong):
            hook(dropped)

    def undo() -> None:
        signal.signal(signal.SIGVTALRM, before)
        sys.unraisablehook = hook

    if not hasattr(signal, "setitimer"):  # Windows
        return lambda: None
    before, hook = signal.signal(signal.SIGVTALRM, end), sys.unraisablehook
    sys.unraisablehook = unraisable
    return undo


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` after so much processor time, if `handle_timer` was called.

    It is raised again and again, because Python drops what a destructor raises.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN_SECONDS)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    finally:  # at most one more signal arrives while the timer is being stopped
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooLong` after so much processor time."""
    undo = handle_timer()
    try:
        with limited(seconds):
            yield
    finally:
        undo()
