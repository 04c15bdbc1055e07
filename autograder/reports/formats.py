"""The formats of `backprop report`, and the base class of reports."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import TracebackType

from rich.console import Console

from autograder.new_files import refuse_link
from autograder.reports.class_results import ClassResults, StudentWork
from course.syllabus import course_title

MAKERS = {
    "terminal": ("autograder.reports.terminal", "TerminalReport"),
    "json": ("autograder.reports.terminal", "JsonReport"),
    "html": ("autograder.reports.html_report", "HtmlReport"),
    "csv": ("autograder.reports.csv_report", "CsvReport"),
    "junit": ("autograder.reports.junit_report", "JunitReport"),
    "gradescope": ("autograder.reports.gradescope_report", "GradescopeReport"),
    "github": ("autograder.reports.github_summary", "GithubSummary"),
    "canvas": ("autograder.reports.platforms.canvas", "CanvasReport"),
    "canvas-feedback": ("autograder.reports.canvas_feedback", "CanvasFeedback"),
    "moodle": ("autograder.reports.platforms.moodle", "MoodleReport"),
    "nbgrader": ("autograder.reports.platforms.nbgrader", "NbgraderReport"),
    "blackboard": ("autograder.reports.platforms.blackboard", "BlackboardReport"),
    "brightspace": ("autograder.reports.platforms.brightspace", "BrightspaceReport"),
}
"""Module and class by format; a module is imported only if its format is requested."""
VISIBILITIES = ("hidden", "after_due_date", "after_published", "visible")
"""When Gradescope shows checks on hidden inputs. Pages show them at once for "visible", and otherwise never."""


@dataclass(frozen=True)
class Order:
    """What to report, and how."""

    classroom: ClassResults
    out: Path
    """The folder for files."""
    screen: Console
    only: str | None = None
    """The only student to report; None for the class."""
    book_url: str | None = None
    """Address or folder of the built book."""
    hidden_checks: str = "hidden"
    """One of `VISIBILITIES`: when students see the checks on hidden inputs."""
    gradebook: str = ""
    """nbgrader's course folder, or its database's address."""
    title: str = field(default_factory=course_title)
    """The dashboard's heading."""


class Report:
    """One format of a class's results, a context manager.

    Students are added one at a time. Files get their final names on exit, and only without an exception.
    """

    def __init__(self, order: Order) -> None:
        self.order = order
        self.files = ExitStack()
        self.written: list[Path] = []
        """The files that it writes."""

    def __enter__(self) -> Report:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.files.__exit__(kind, error, at)

    def file(self, *parts: str) -> Path:
        """The path of a file in the output folder, noted as written."""
        path = self.order.out.joinpath(*parts)
        self.written.append(path)
        return path

    def add(self, work: StudentWork) -> None:
        """Report one student."""
        raise NotImplementedError

    def finish(self) -> list[str]:
        """Report the totals; returns lines that name the files written."""
        return []


def make_report(name: str, order: Order) -> Report:
    """The report of a format in `MAKERS`.

    Raises:
        ModuleNotFoundError: it needs a package that is not installed.
        OSError: a file cannot be written.
    """
    module, maker = MAKERS[name]
    report: Report = getattr(import_module(module), maker)(order)
    return report


def write_text(path: Path, text: str) -> None:
    """Write one of many files, without fsync, which would take minutes for thousands.

    Raises:
        OSError: the file cannot be written, or is a symbolic link.
    """
    refuse_link(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
