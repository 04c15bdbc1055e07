"""Makes reports in several formats from one reading of a class; if one fails, the others are still made."""

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
"""Packages that some formats need and learners do not have."""


@dataclass
class FormatRun:
    """One format in the making; a context manager that completes its files on exit."""

    name: str
    order: Order
    lines: list[str] = field(default_factory=list)
    """Which files were written."""
    error: Exception | None = None
    """The exception that ended it."""
    _report: Report | None = None

    def __enter__(self) -> FormatRun:
        self._try(self._begin)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._report is not None and self.error is None:
            self._try(self._report.__exit__, kind, error, at)
            if self.error is None:
                self.lines += self._try(self._remove_outdated, self._report.written) or []

    def add(self, work: Any) -> None:
        """Report one student, unless the format has failed."""
        if self._report is not None:
            self._try(self._report.add, work)

    def finish(self) -> None:
        """Report the totals, unless the format has failed."""
        if self._report is not None:
            self.lines = self._try(self._report.finish) or []

    def problem(self) -> str:
        """One line on why it failed, and what to do; empty if it did not, or the reader closed the pipe."""
        error = self.error
        if error is None or isinstance(error, BrokenPipeError):
            return ""
        if isinstance(error, ModuleNotFoundError) and error.name in NEEDED:
            return f"{self.name} needs {error.name}: pip install 'backprop-course[instructor]'"
        if type(error).__name__ == "GradebookError":  # defined in a module that needs nbgrader
            return str(error)
        if isinstance(error, OSError):
            return f"{error.filename or self.order.out} cannot be written ({error.strerror})"
        return f"{self.name} cannot be made ({type(error).__name__} at {_location(error)}); please report this"

    def _begin(self) -> None:
        report = make_report(self.name, self.order)
        report.__enter__()
        self._report = report

    def _remove_outdated(self, files: list[Path]) -> list[str]:
        """Remove files of the format's last report that this one did not write; a line that names them."""
        whole = self.order.only is None
        gone = take_back(self.order.classroom.folder, self.order.out, self.name, files, whole_class=whole)
        what = some(gone)
        return [f"{self.name}: removed what an earlier report wrote and this one does not: {what}"] if gone else []

    def _try(self, what: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; if it fails, remove unfinished files and try nothing more."""
        if self.error is not None:
            return None
        try:
            return what(*arguments)
        except Exception as error:
            self.error = error
            self.lines = []
            if self._report is not None:
                with suppress(Exception):  # if cleaning up fails, it is for the same reason
                    self._report.__exit__(type(error), error, error.__traceback__)
            return None


def make_all(formats: Sequence[str], order: Order) -> list[FormatRun] | None:
    """Read the class once and report it in all formats; None if it has no students."""
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


def _location(error: Exception) -> str:
    """File and line where an exception was raised. Its message is never shown, because it may quote a submission."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else "no place"
