"""Blackboard: the Grade Center's file for Work Offline, Upload.

It is what Download gives: columns with tabs between them, in UTF-16, in a file called .xls. A student is found by
Username, a column by the number behind its name, `Homework 6 [Total Pts: 63 Score] |123456`. A column without such a
number becomes a new one, of text and worth nothing, until somebody changes that.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from autograder.gradebook.roster import Table
from autograder.reports.platforms.gradebook import GradebookReport, Line
from autograder.reports.safety import cell

HEADER = ("Last Name", "First Name", "Username", "Student ID")
WORTH = re.compile(r"\[Total Pts: (?:up to )?([\d.,]+)")


class BlackboardReport(GradebookReport):
    """`blackboard.xls`, to upload in the Grade Center."""

    platform = "blackboard"

    def write(self) -> list[str]:
        path = self.order.out / "blackboard.xls"
        found = self.tables("blackboard")
        if found:
            table, rows = found[-1]
            places = [place for place, title in enumerate(table.header) if title.strip() in HEADER]
            people = [(tuple(row[place] for place in places), line) for row, line in rows]
            self.not_in(rows)
        else:
            table, places = Table("blackboard", "", HEADER), list(range(len(HEADER)))
            people = [(_row(line), line) for line in self.lines]
        columns = {slug: self.column_of(slug, table.header[len(HEADER) :]) for slug in self.lessons}
        new = [slug for slug, title in columns.items() if title not in table.header]
        if new:
            self.said.append(
                f"{', '.join(new)}: no column of the download; a new one is text, and worth nothing until edited"
            )
        worth = {slug: match[1] if (match := WORTH.search(title or "")) else "" for slug, title in columns.items()}
        for slug, theirs in worth.items():
            self.scaled(slug, theirs)
        text = io.StringIO(newline="")
        out = csv.writer(text, delimiter="\t", quoting=csv.QUOTE_ALL)
        out.writerow([*(table.header[place] for place in places), *(title or slug for slug, title in columns.items())])
        for row, line in people:
            out.writerow([*row, *(self.points(line, slug, worth[slug]) for slug in self.lessons)])
        _write(path, text.getvalue())
        return [str(path)]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-16"))


def _row(line: Line) -> tuple[str, ...]:
    """A student by what is known without a download of Blackboard's."""
    if line.person is None:
        return ("", cell(line.student), "", "")
    first, _, last = line.person.name.rpartition(" ")
    ids = line.person.ids
    return (cell(last), cell(first), cell(ids.get("login", "")), cell(ids.get("number", "")))
