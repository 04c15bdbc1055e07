"""Calls variants of a submission in the judge's own process, where there is no other, as in a page."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autograder.judging.asking.here_run import HereRun
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.variants import (
    SLOW_VARIANT_SECONDS,
    VARIANT_SECONDS,
    Changes,
    NoVariants,
    Statement,
)
from autograder.judging.records.errors import Crashed
from autograder.worker.execution import failure
from autograder.worker.interrupts import TooLong
from autograder.worker.messages import Answer, Call
from autograder.worker.time_limit import ended_after
from autograder.worker.variants import Variants

SLOWER = 3
"""A browser's Python has so many times a variant's seconds."""
DEEPEST = 200
"""Calls of a variant within each other. An operator that calls itself fills a browser's stack before it reaches
Python's own limit, and ends the page's Python."""
MOST_SECONDS = 100.0
"""Seconds for all variants of one exercise, far beyond what their calls take."""


@contextmanager
def shallow() -> Iterator[None]:
    """Inside, at most `DEEPEST` calls of Python functions are within each other."""
    before, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(min(before, depth + DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class VariantsHere(LocalRun):
    """As `VariantRun`, in this process. A loop in C does not end: in a page, the page ends its Python then.

    Args:
        of: the submission as it is; its scenarios and its guard are the variants', too.
        statements: of the submission, in order.
        slow: as in `VariantRun`.
        before: called before each variant.
    """

    def __init__(
        self,
        of: HereRun,
        statements: Sequence[Statement],
        *,
        slow: bool = False,
        before: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__({}, None, of.scenarios)
        if of.guard is not None:
            self.guard_with(of.guard)
        self._variants = Variants(of.name, statements, ended_after)
        self._before = before
        self._changes: Changes = ()
        self._is_running = False
        self._traced = False
        self._variant_seconds = self._seconds = SLOW_VARIANT_SECONDS if slow else VARIANT_SECONDS
        self._until = time.monotonic() + MOST_SECONDS
        self.last: Call | None = None

    def take(self, changes: Changes, *, traced: bool = False, seconds: float | None = None) -> None:
        """As `RunsVariants.take`; a browser has `SLOWER` times the seconds, of the clock."""
        self._changes, self._traced, self._is_running = changes, traced, False
        self._seconds = self._variant_seconds if seconds is None else seconds

    def screen(self, variants: Sequence[Changes], call: Call) -> list[Answer | None]:
        """As `RunsVariants.screen`."""
        self._is_running = False
        found: list[Answer | None] = []
        for changes in variants:
            failed = self._run(changes, self._variant_seconds)
            try:
                found.append({"failure": failed} if failed else self._answered(call))
            except Crashed:
                found.append(None)
        return found

    def lines(self) -> set[tuple[str, int]]:
        return set(self._variants.lines)

    def entered(self) -> int:
        return self._variants.entered

    def ask(self, request: Call, seconds: float) -> Answer:
        """The variant's answer. Raises `LearnerError` if there is none."""
        self.last = request
        if not self._is_running:
            if self._run(self._changes, self._seconds, self._traced):
                raise Crashed("The variant cannot be run.")
            self._is_running = True
        return self._answered(request)

    def forget(self) -> None:
        """Raise `LearnerError`: a check that needs a new process would need one for each variant."""
        raise Crashed("A variant has one process.")

    def close(self) -> None:
        """Do nothing: there is only one process."""

    def _run(self, changes: Changes, seconds: float, traced: bool = False) -> dict[str, Any] | None:
        """Run a variant of the statements; return the failure if there is no such program, else None."""
        if time.monotonic() > self._until:
            raise NoVariants
        self._before()
        self._ended.clear()
        self._dispatcher.objects.clear()
        try:
            with shallow():
                self._dispatcher.program = self._variants.run(changes, SLOWER * seconds, traced)
        except BaseException as error:
            return failure(error).as_data()
        return None

    def _answered(self, request: Call) -> Answer:
        try:
            with self._variants.limited(), shallow():
                return super().ask(request, 0.0)
        except TooLong as error:
            return {"failure": failure(error).as_data()}
