"""Blackboard: the Grade Center's file for Work Offline, Upload.

The format is that of Download: tab-separated UTF-16 in a file called .xls. Blackboard finds a student by Username, and
a column by the number after its name, `Homework 6 [Total Pts: 63 Score] |123456`. A column without such a number
becomes a new text column, worth nothing until somebody edits it.

Blackboard does not document what an empty cell does to a grade. So cells without a result repeat the download's, and
files with new columns list only students with points.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from autograder.gradebook.roster import Table
from autograder.reports.platforms.gradebook import GradebookReport, Line, as_it_came, unchanged_id
from autograder.reports.safety import Kept, cell

HEADER = ("Last Name", "First Name", "Username", "Student ID")
WORTH = re.compile(r"\[Total Pts: (?:up to )?([\d.,]+)")


class BlackboardReport(GradebookReport):
    """`blackboard.xls`, to upload in the Grade Center."""

    platform = "blackboard"

    def write(self) -> list[str]:
        found = self.tables("blackboard")
        if found:
            table, rows = found[-1]
            places = [place for place, title in enumerate(table.header) if title.strip() in HEADER]
            people = [(tuple(row[place] for place in places), row, line) for row, line in rows]
            self.not_in(rows)
        else:
            table, places = Table("blackboard", "", HEADER), list(range(len(HEADER)))
            people = [(_row(line), (), line) for line in self.lines]
            self.say_without("no username", [line.student for row, _, line in people if line.worked and not row[2]])
        head = [table.header[place] for place in places]
        columns = {slug: self.column_of(slug, table.header[len(HEADER) :]) for slug in self.lessons}
        known = {slug: title for slug, title in columns.items() if title and title in table.header}
        new = {slug: title for slug, title in columns.items() if slug not in known}
        paths = [self._file("blackboard.xls", head, people, known, table)] if known else []
        self.say_how_old(table)
        if new:
            self.said.append(
                f"{', '.join(new)}: no column of the download; a new one is text, and worth nothing until edited"
            )
            files = self.spread("blackboard", ".xls", list(new), (line for *_, line in people), beside=bool(known))
            for name, slugs in files.items():
                some = [one for one in people if one[2].worked & set(slugs)]
                paths.append(self._file(name, head, some, {slug: new[slug] or slug for slug in slugs}, table))
        return paths

    def _file(
        self,
        name: str,
        head: list[str],
        people: list[tuple[tuple[str, ...], tuple[str, ...], Line]],
        columns: dict[str, str],
        table: Table,
    ) -> str:
        worth = {slug: match[1] if (match := WORTH.search(title)) else "" for slug, title in columns.items()}
        for slug, theirs in worth.items():
            self.scaled(slug, theirs)
        path = self.file(name)
        text = io.StringIO(newline="")
        out = self.writer(text, delimiter="\t")
        out.writerow([*head, *(Kept(one) if one in table.header else one for one in columns.values())])
        for row, whole, line in people:
            there = dict(zip(table.header, whole, strict=False))
            cells = (self.points(line, slug, worth[slug], there.get(title, "")) for slug, title in columns.items())
            out.writerow([*(as_it_came(head, row) if whole else row), *cells])
        _write(path, text.getvalue())
        return str(path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-16"))


def _row(line: Line) -> tuple[str, ...]:
    """A student's columns when there is no download from Blackboard."""
    if line.person is None:
        return ("", cell(line.student), "", "")
    first, _, last = line.person.name.rpartition(" ")
    ids = line.person.ids
    return (cell(last), cell(first), unchanged_id(ids.get("login", "")), unchanged_id(ids.get("number", "")))
