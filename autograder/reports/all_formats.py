"""Several formats from one reading of a class: one that fails takes none of the others with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any

from autograder.reports.formats import Order, Report, make_report
from autograder.reports.written_files import take_back
from autograder.wording import some

NEEDED = ("matplotlib", "jinja2", "nbgrader", "nbformat", "sqlalchemy")
"""What formats need that learners do not."""


@dataclass
class FormatRun:
    """One format, as far as it gets; a context manager, on leaving which its files get their names."""

    name: str
    order: Order
    lines: list[str] = field(default_factory=list)
    """What was written where."""
    error: Exception | None = None
    """What it failed by."""
    _report: Report | None = None

    def __enter__(self) -> FormatRun:
        self._try(self._begin)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._report is not None and self.error is None:
            self._try(self._report.__exit__, kind, error, at)
            if self.error is None:
                self.lines += self._try(self._take_back, self._report.written) or []

    def add(self, work: Any) -> None:
        """Report one student, if it still can."""
        if self._report is not None:
            self._try(self._report.add, work)

    def finish(self) -> None:
        """Report what the students add up to, if it still can."""
        if self._report is not None:
            self.lines = self._try(self._report.finish) or []

    def problem(self) -> str:
        """One line on why it failed, and what to do; empty if it did not, or whoever read it has seen enough."""
        error = self.error
        if error is None or isinstance(error, BrokenPipeError):
            return ""
        if isinstance(error, ModuleNotFoundError) and error.name in NEEDED:
            return f"{self.name} needs {error.name}: pip install 'backprop-course[instructor]'"
        if type(error).__name__ == "GradebookError":  # its module needs nbgrader
            return str(error)
        if isinstance(error, OSError):
            return f"{error.filename or self.order.out} cannot be written ({error.strerror})"
        return f"{self.name} cannot be made ({type(error).__name__} at {_place(error)}); please report this"

    def _begin(self) -> None:
        report = make_report(self.name, self.order)
        report.__enter__()
        self._report = report

    def _take_back(self, files: list[Path]) -> list[str]:
        """Remove what the last report of this format wrote and this one did not; a line on that."""
        whole = self.order.only is None
        gone = take_back(self.order.classroom.folder, self.order.out, self.name, files, whole_class=whole)
        what = some(gone)
        return [f"{self.name}: removed what an earlier report wrote and this one does not: {what}"] if gone else []

    def _try(self, what: Callable[..., Any], *arguments: Any) -> Any:
        """Do the next thing; where it fails, the files that are not whole go away, and nothing more is tried."""
        if self.error is not None:
            return None
        try:
            return what(*arguments)
        except Exception as error:
            self.error = error
            self.lines = []
            if self._report is not None:
                with suppress(Exception):  # what cannot be removed either is the same failure
                    self._report.__exit__(type(error), error, error.__traceback__)
            return None


def make_all(formats: Sequence[str], order: Order) -> list[FormatRun] | None:
    """Read the class once and report it in all formats; None if there is nobody."""
    students = iter(order.classroom)
    first = next(students, None)
    if first is None:
        return None
    with ExitStack() as stack:
        runs = [stack.enter_context(FormatRun(name, order)) for name in formats]
        for work in chain([first], students):
            for each in runs:
                each.add(work)
            if all(each.error is not None for each in runs):
                break
        for each in runs:
            each.finish()
    return runs


def _place(error: Exception) -> str:
    """Where in our code something failed; never the words of an error, which may be of a submission."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else "no place"
