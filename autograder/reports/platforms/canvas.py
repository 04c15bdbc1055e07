"""Canvas: the gradebook's CSV, as its importer reads it (canvas-lms, lib/gradebook_importer.rb).

The first columns, up to Section, are the export's own; then come a row `    Points Possible` and a row per student,
whom Canvas finds by ID, then by SIS User ID or SIS Login ID. An assignment's column is called `Title (id)`; one without
a known id becomes a new assignment after a confirmation.

An empty cell deletes a grade or an excuse: `no_change_to_value?` is false, and `posted_grade` is sent as empty
(process_gradebook_upload.js, `populateGradeDataPerSubmission`). So cells without a result repeat the export's, and
files with new columns list only students with points.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from autograder.gradebook.columns import NOT_ASSIGNED
from autograder.gradebook.roster import Table
from autograder.judging.records.results import whole_file
from autograder.reports.platforms.gradebook import GradebookReport, Line, as_it_came, unchanged_id
from autograder.reports.safety import Kept, cell

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "    Points Possible"
ANONYMOUS = (
    "Canvas has N/A for everybody there, as in an anonymous assignment whose grades are not posted, and imports none: "
    "post them there, then download and export again"
)
HAND_IN = re.compile(r".*_(\d+)", re.DOTALL)
"""Canvas's name for a hand-in, which ends in the student's ID."""


class CanvasReport(GradebookReport):
    """`canvas.csv`, to import under Grades, Import."""

    platform = "canvas"
    excuse = "EX"

    def write(self) -> list[str]:
        found = self.tables("canvas")
        if not found:
            self.said.append("without Canvas's own export as --roster, students are found by ID and login alone")
            people = [(_row(line), line) for line in self.lines]
            columns = {slug: self.column_of(slug, ()) for slug in self.lessons}
            self._say_new(columns)
            return self._without_blanks("canvas", Table("canvas", "", HEADER), HEADER, people, columns)
        table, rows = found[-1]  # the newest export contains all columns of earlier ones
        head = _student_columns(table)
        self.not_in(rows)
        columns = {slug: self.column_of(slug, table.header[len(head) :]) for slug in self.lessons}
        known = {slug: title for slug, title in columns.items() if title in table.header}
        new = {slug: title for slug, title in columns.items() if slug not in known}
        for slug, title in known.items():
            place = table.header.index(title)
            if rows and all(NOT_ASSIGNED.fullmatch(row[place]) for row, _ in rows):
                self.said.append(f"{slug}: {ANONYMOUS}")
        paths = [self._file("canvas.csv", table, head, rows, known)] if known else []
        self.say_how_old(table)
        if new:
            self._say_new(new)
            paths += self._without_blanks("canvas", table, head, rows, new, beside=bool(known))
        return paths

    def _say_new(self, columns: dict[str, str | None]) -> None:
        if columns:
            self.said.append(f"{', '.join(columns)}: no column of the export; Canvas asks about a new assignment")

    def _without_blanks(
        self,
        name: str,
        table: Table,
        head: tuple[str, ...],
        rows: list[tuple[tuple[str, ...], Line]],
        columns: Mapping[str, str | None],
        beside: bool = False,
    ) -> list[str]:
        """Write files of columns with unknown contents; students without points are left out. Returns the paths."""
        files = self.spread(name, ".csv", list(columns), (line for _, line in rows), beside=beside)
        return [
            self._file(
                file,
                table,
                head,
                [(row, line) for row, line in rows if self.has_cell(line) & set(slugs)],
                {slug: columns[slug] for slug in slugs},
            )
            for file, slugs in files.items()
        ]

    def _file(
        self,
        name: str,
        table: Table,
        head: tuple[str, ...],
        rows: list[tuple[tuple[str, ...], Line]],
        columns: Mapping[str, str | None],
    ) -> str:
        path = self.file(name)
        above = _points_possible(table)
        worth = {slug: above.get(title or "", "") for slug, title in columns.items()}
        for slug, theirs in worth.items():
            self.scaled(slug, theirs)
        with whole_file(path) as file:
            out = self.writer(file)
            titles = (title or slug for slug, title in columns.items())
            out.writerow([*head, *(Kept(one) if one in table.header else one for one in titles)])
            possible = [worth[slug] or f"{self.order.classroom.worth(slug):g}" for slug in columns]
            out.writerow([POINTS, *[""] * (len(head) - 1), *possible])
            for row, line in rows:
                there = dict(zip(table.header, row, strict=False)) if table.file else {}
                cells = (
                    self.points(line, slug, worth[slug], there.get(title or "", "")) for slug, title in columns.items()
                )
                out.writerow([*(as_it_came(head, row[: len(head)]) if table.file else row), *cells])
        return str(path)


def _student_columns(table: Table) -> tuple[str, ...]:
    titles = [title.strip() for title in table.header]
    return table.header[: titles.index("Section") + 1]


def _points_possible(table: Table) -> dict[str, str]:
    """By column title: the points possible in the export."""
    row = next((row for row in table.head_rows if "Points Possible" in row[0]), ())
    return dict(zip(table.header, row, strict=False))


def _row(line: Line) -> tuple[str, ...]:
    """A student's columns when there is no export from Canvas."""
    if line.person is None:
        match = HAND_IN.fullmatch(line.student)
        return (cell(line.student), match[1] if match else "", "", "", "")
    ids = line.person.ids
    name = line.person.sortable or line.person.name
    found_by = (ids.get("canvas", ""), ids.get("sis", ""), ids.get("login") or ids.get("mail", ""))
    return (cell(name), *map(unchanged_id, found_by), cell(line.person.section))
