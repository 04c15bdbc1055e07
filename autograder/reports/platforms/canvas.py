"""Canvas: the gradebook's CSV, as its importer reads it (canvas-lms, lib/gradebook_importer.rb).

The first columns are the export's own up to Section; a row `    Points Possible`; then a row for each student, who is
found by ID, then by SIS User ID or SIS Login ID. An assignment's column is called `Title (id)`; one without an id that
Canvas knows becomes a new assignment, which it asks about. An empty cell changes nothing.
"""

from __future__ import annotations

import csv
import re

from autograder.gradebook.roster import Table
from autograder.judging.records.results import whole_file
from autograder.reports.platforms.gradebook import GradebookReport, Line
from autograder.reports.safety import cell

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "    Points Possible"
HAND_IN = re.compile(r".+_(\d+)", re.DOTALL)
"""What Canvas calls a hand-in ends in the student's ID."""


class CanvasReport(GradebookReport):
    """`canvas.csv`, to import under Grades, Import."""

    platform = "canvas"

    def write(self) -> list[str]:
        path = self.order.out / "canvas.csv"
        found = self.tables("canvas")
        if found:
            table, rows = found[-1]  # the newest export has all that the earlier ones have
            head, above = _student_columns(table), _points_possible(table)
            people = [(row[: len(head)], line) for row, line in rows]
            self.not_in(rows)
        else:
            table, head, above = Table("canvas", "", HEADER), HEADER, {}
            people = [(_row(line), line) for line in self.lines]
            self.said.append("without Canvas's own export as --roster, students are found by ID and login alone")
        columns = {slug: self.column_of(slug, table.header[len(head) :]) for slug in self.lessons}
        new = [slug for slug, title in columns.items() if title not in table.header]
        if new:
            self.said.append(f"{', '.join(new)}: no column of the export; Canvas asks about a new assignment")
        worth = {slug: above.get(title or "", "") for slug, title in columns.items()}
        for slug, theirs in worth.items():
            self.scaled(slug, theirs)
        with whole_file(path) as file:
            out = csv.writer(file)
            out.writerow([*head, *(title or slug for slug, title in columns.items())])
            possible = [worth[slug] or f"{self.order.classroom.worth(slug):g}" for slug in self.lessons]
            out.writerow([POINTS, *[""] * (len(head) - 1), *possible])
            for row, line in people:
                out.writerow([*row, *(self.points(line, slug, worth[slug]) for slug in self.lessons)])
        return [str(path)]


def _student_columns(table: Table) -> tuple[str, ...]:
    titles = [title.strip() for title in table.header]
    return table.header[: titles.index("Section") + 1]


def _points_possible(table: Table) -> dict[str, str]:
    """What the export says that its columns are worth."""
    row = next((row for row in table.head_rows if "Points Possible" in row[0]), ())
    return dict(zip(table.header, row, strict=False))


def _row(line: Line) -> tuple[str, ...]:
    """A student by what is known without an export of Canvas's."""
    if line.person is None:
        match = HAND_IN.fullmatch(line.student)
        return (cell(line.student), match[1] if match else "", "", "", "")
    ids = line.person.ids
    name = line.person.sortable or line.person.name
    said = (name, ids.get("canvas", ""), ids.get("sis", ""), ids.get("login") or ids.get("mail", ""))
    return (*map(cell, said), cell(line.person.section))
