"""Moodle: an assignment's grading worksheet, filled in (mod/assign/feedback/offline), or a table for Grades, Import.

A worksheet goes back as it came, with Grade and Feedback comments in it: the importer finds a student by Identifier,
which is another in each assignment, and wants Grade and Last modified (grade) beside it. Without one, students are
mapped by mail address or ID number, and points and feedback have a column each: Moodle wants both or loses points.

Moodle shows both kinds of feedback as HTML. A worksheet's comments are stored as FORMAT_HTML (`set_editor_text` in
moodle/moodle, mod/assign/feedback/comments/locallib.php), feedback of Grades, Import as FORMAT_MOODLE
(`grade_import_commit` in grade/import/lib.php), in which tags are tags, too. So ours is escaped for HTML.
"""

from __future__ import annotations

import csv

from autograder.classroom.lesson_names import lessons_named
from autograder.gradebook.roster import Table
from autograder.judging.records.results import whole_file
from autograder.reports.platforms.gradebook import GradebookReport, Line
from autograder.reports.safety import cell, markup

COMMENTS = "feedback comments"
IN_CSV = ("Full name", "Email address", "ID number")


class MoodleReport(GradebookReport):
    """`moodle/<worksheet>.csv` for each worksheet among the rosters, else `moodle/gradebook.csv`."""

    platform = "moodle"

    def write(self) -> list[str]:
        worksheets = [
            (table, rows) for table, rows in self.tables("moodle") if _places(table).keys() >= {"grade", "identifier"}
        ]
        return [self._filled_in(table, rows) for table, rows in worksheets] or [self._for_the_gradebook()]

    def _filled_in(self, table: Table, rows: list[tuple[tuple[str, ...], Line]]) -> str:
        slug = self._lesson_of(table)
        if slug is None:
            return f"{table.file}: which lesson is it of? Call the file after it, as ch06-worksheet.csv"
        places = _places(table)
        path = self.order.out / "moodle" / table.file
        most = next((row[places["maximum grade"]] for row, _ in rows), "") if "maximum grade" in places else ""
        self.scaled(slug, most)
        with whole_file(path) as file:
            out = csv.writer(file)
            out.writerow(table.header)
            for row, line in rows:
                filled, points = list(row), self.points(line, slug, most)
                if points:
                    filled[places["grade"]] = points.replace(".", ",") if "," in most else points
                    if COMMENTS in places and (said := line.cells[slug].said):
                        filled[places[COMMENTS]] = cell(markup(said))
                out.writerow(filled)
        self.not_in(rows)
        return str(path)

    def _lesson_of(self, table: Table) -> str | None:
        named = lessons_named(table.file.rpartition(".")[0])
        if len(named) == 1:
            return named[0]
        columns = [slug for slug in self.lessons if (self.order.classroom.rules.of(slug).column or "\0") in table.file]
        only = columns or list(self.lessons)
        return only[0] if len(only) == 1 else None

    def _for_the_gradebook(self) -> str:
        path = self.order.out / "moodle" / "gradebook.csv"
        titles = {slug: self.column_of(slug, ()) or slug for slug in self.lessons}
        with whole_file(path) as file:
            out = csv.writer(file)
            feedback = [title for one in titles.values() for title in (one, f"{one} (feedback)")]
            out.writerow([*IN_CSV, *feedback])
            for line in self.lines:
                person = line.person
                ids = person.ids if person else {"mail": line.student if "@" in line.student else ""}
                said = [
                    one
                    for slug in titles
                    for one in (
                        self.points(line, slug),
                        cell(markup(line.cells[slug].said)) if slug in line.cells else "",
                    )
                ]
                name = person.name if person else line.student
                out.writerow([*map(cell, (name, ids.get("mail", ""), ids.get("number", ""))), *said])
        self.said.append(
            "import it under Grades, Import, CSV: map Email address (or ID number), and both columns of a lesson"
        )
        return str(path)


def _places(table: Table) -> dict[str, int]:
    return {title.strip().lower(): place for place, title in enumerate(table.header) if title.strip()}
