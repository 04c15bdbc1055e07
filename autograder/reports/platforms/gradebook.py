"""What the gradebooks of all platforms share: a cell for each student and lesson, in the platform's columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.classroom.lesson_names import lessons_named
from autograder.gradebook.roster import Person, Table
from autograder.reports.class_results import StudentWork
from autograder.reports.formats import Order, Report

COLUMN_ID = re.compile(r"\s*(\(\d+\)|\[Total Pts:.*|Points Grade(?: <.*>)?)\s*$")
"""What a platform puts behind an assignment's name."""
NO_ASSIGNMENT = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")
"""Canvas's columns of groups of assignments, which its importer passes over, too."""
UNGRADED = ("killed",)
"""Whose points are not known: the cell stays empty."""


@dataclass(frozen=True)
class Cell:
    """A student's points for a lesson, and what there is to say."""

    points: float
    max_points: float
    said: str = ""


@dataclass(frozen=True)
class Line:
    """A student's points, by lesson."""

    student: str
    person: Person | None
    cells: dict[str, Cell]


class GradebookReport(Report):
    """A platform's gradebook; of a class of thousands the numbers are kept, and nothing else."""

    platform = ""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self.lessons = order.classroom.due
        self.lines: list[Line] = []
        self.said: list[str] = []
        """What there is to say of the file, a line each."""
        self._ungraded = 0

    def add(self, work: StudentWork) -> None:
        """Keep a student's points; what could not be graded has none."""
        cells = {}
        for result in work.results:
            if result.status in UNGRADED:
                self._ungraded += 1
            elif result.lesson in self.lessons:
                cells[result.lesson] = Cell(result.points, result.max_points, result.message)
        if work.results or work.person is not None:
            self.lines.append(Line(work.student, work.person, cells))

    def finish(self) -> list[str]:
        written = self.write()
        if self._ungraded:
            self.said.append(f"{self._ungraded} hand-ins could not be graded: their cells are empty")
        return [f"{self.platform}: {line}" for line in (*written, *self.said)]

    def write(self) -> list[str]:
        """Write the files; where they are."""
        raise NotImplementedError

    def tables(self, platform: str) -> list[tuple[Table, list[tuple[tuple[str, ...], Line]]]]:
        """The platform's own tables among the rosters, each with its rows and whose they are."""
        found: dict[Table, dict[int, tuple[tuple[str, ...], Line]]] = {}
        for line in self.lines:
            for table, place, row in line.person.rows if line.person else ():
                if table.platform == platform:
                    found.setdefault(table, {})[place] = (row, line)
        return [(table, [rows[place] for place in sorted(rows)]) for table, rows in found.items()]

    def not_in(self, rows: Iterable[tuple[tuple[str, ...], Line]]) -> None:
        """Say who has points and no row in the platform's table."""
        there = {line.student for _, line in rows}
        gone = [line.student for line in self.lines if line.cells and line.student not in there]
        if gone:
            more = f" and {len(gone) - 5} more" if len(gone) > 5 else ""
            self.said.append(f"in no row of the roster, and not in this file: {', '.join(gone[:5])}{more}")

    def column_of(self, slug: str, titles: Iterable[str]) -> str | None:
        """The platform's column of a lesson: the one that the rules name, or whose name says the lesson."""
        listed = list(titles)
        named = self.order.classroom.rules.of(slug).column
        if named:
            return next(
                (title for title in listed if named in (title.strip(), COLUMN_ID.sub("", title).strip())), named
            )
        assignments = [title for title in listed if not NO_ASSIGNMENT.search(title)]
        meant = [title for title in assignments if lessons_named(COLUMN_ID.sub("", title)) == [slug]]
        if len(meant) > 1:
            self.said.append(f"{slug} could be {' or '.join(map(repr, meant))}: the rules say which, column = …")
        return meant[0] if len(meant) == 1 else None

    def points(self, line: Line, slug: str, worth: str = "") -> str:
        """What stands in a cell; `worth` is what the platform's column is worth, and points are scaled to it."""
        cell = line.cells.get(slug)
        if cell is None:
            return ""
        theirs = number(worth)
        points = cell.points if not theirs or not cell.max_points else cell.points * theirs / cell.max_points
        return f"{round(points, 2):g}" if abs(points) < 1e5 else f"{points:.2f}"

    def scaled(self, slug: str, worth: str) -> None:
        """Say so where a platform's column is worth more or less than the lesson."""
        ours, theirs = self.order.classroom.worth(slug), number(worth)
        if theirs and theirs != ours:
            self.said.append(f"{slug}: points of {ours:g} are scaled to the {theirs:g} of the column")


def number(text: str) -> float:
    """A number as a platform writes it, with a comma too; 0 for anything else."""
    try:
        return float(text.strip().replace(",", ".")) if text.strip() else 0.0
    except ValueError:
        return 0.0
