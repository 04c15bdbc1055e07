"""Ends a submission's code that runs too long, in a process that nothing outside can stop without losing it.

A browser's Python has no signals and no threads. So the code is watched from inside: at each jump and at the start of
each function of a cell. A loop in C, or in a library, is not ended.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from autograder.worker.imports import CELLS
from autograder.worker.interrupts import TooLong

EACH = 32
"""The clock is read at each of so many events: reading it costs more than an event."""
TOOL = 4
"""Our number among the tools of `sys.monitoring`; 0, 1, 2 and 5 are for debuggers, coverage and profilers."""
DEPTH = 3
"""The code that is watched is so many frames above `Limit.look`."""


class OutOfTime(BaseException):
    """Raised in code whose time is over. A `BaseException`, so that `except Exception` does not go on."""


@dataclass
class Limit:
    """The limit of the code that runs."""

    until: float
    passed: bool = False
    """Whether the code was ended."""
    events: int = 0
    where: str = ""
    """The line that was ended, as "cell forward, line 3"."""

    def look(self) -> None:
        """Raise `OutOfTime` if the time is over, and again at each later event: a bare `except` cannot go on."""
        self.events += 1
        if self.passed or (self.events % EACH == 0 and time.monotonic() > self.until):
            self.where = self.where or _line_of(sys._getframe(DEPTH))
            self.passed = True
            raise OutOfTime


def _line_of(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


_now: list[Limit] = []
"""The limits in force; only the last is looked at."""
_watching = False


@contextmanager
def limited(seconds: float) -> Iterator[Limit]:
    """Raise `OutOfTime` in the cells' code that runs inside for more than `seconds`; the caller reads `passed`."""
    limit = Limit(time.monotonic() + seconds)
    _now.append(limit)
    before = _watch()
    try:
        yield limit
    except OutOfTime:
        if not limit.passed:
            raise
    finally:
        _now.remove(limit)
        if before is not None:
            sys.settrace(before[0])


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """As `limited`, but raise `TooLong` where code was ended."""
    with limited(seconds) as limit:
        yield
    if limit.passed:
        raise TooLong


def _watch() -> list[Any] | None:
    """Have code watched; what to restore afterwards, or None if the watch stays, as it costs nothing elsewhere."""
    global _watching
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        before = sys.gettrace()
        sys.settrace(_traced)
        return [before]
    if not _watching:
        events = monitoring.events
        monitoring.use_tool_id(TOOL, "backprop")
        monitoring.register_callback(TOOL, events.PY_START, _began)
        monitoring.register_callback(TOOL, events.JUMP, _jumped)
        monitoring.set_events(TOOL, events.PY_START)
        _watching = True
    return None


def _began(code: CodeType, offset: int) -> Any:
    monitoring = sys.monitoring  # type: ignore[attr-defined]
    if not code.co_filename.startswith(CELLS):
        return monitoring.DISABLE
    if not monitoring.get_local_events(TOOL, code):
        monitoring.set_local_events(TOOL, code, monitoring.events.JUMP)
    _look()
    return None


def _jumped(code: CodeType, offset: int, target: int) -> None:
    _look()


def _look() -> None:
    if _now:
        _now[-1].look()


def _traced(frame: FrameType, event: str, _: Any) -> Any:
    """Trace cells alone, step by step, where Python has no `sys.monitoring`: before 3.12.

    Python traces no longer after the exception, so a loop that catches everything is not ended there.
    """
    if not frame.f_code.co_filename.startswith(CELLS):
        return None
    frame.f_trace_opcodes = True  # `while True: pass` is one line
    _look()
    return _traced
