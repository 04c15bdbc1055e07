"""Brightspace: the CSV of Grades, Enter Grades, Import (D2L's article 3538, Importing grades).

OrgDefinedId or Username or both come first, then a column `<item> Points Grade` for each item, then an indicator of the
line's end, `#`. An export of the platform writes `#` before ids as well, so that no spreadsheet takes them for numbers,
and behind an item's name what it is worth, `<Numeric MaxPoints:63 Weight:10>`; both may go back as they came. An item
that Brightspace does not know is created where the one who imports says so. Whoever has no points gets no row: the
article does not say what becomes of an empty cell.
"""

from __future__ import annotations

import re

from autograder.gradebook.roster import Table
from autograder.judging.records.results import whole_file
from autograder.reports.platforms.gradebook import GradebookReport, Line
from autograder.reports.safety import TableWriter, cell
from autograder.wording import some

HEADER = ("OrgDefinedId", "Username")
END, MARK = "End-of-Line Indicator", "#"
ITEM = re.compile(r".+ Points Grade(?: <.*>)?\s*", re.DOTALL)
WORTH = re.compile(r"MaxPoints:([\d.,]+)")


class BrightspaceReport(GradebookReport):
    """`brightspace.csv`, or a file for each lesson where some students lack points that others have."""

    platform = "brightspace"

    def write(self) -> list[str]:
        found = self.tables("brightspace")
        if found:
            table, rows = found[-1]  # the newest export has all that the earlier ones have
            places = [place for place, title in enumerate(table.header) if title.strip() in HEADER]
            people = [(tuple(row[place] for place in places), row, line) for row, line in rows]
            self.not_in(rows)
        else:
            table, places = Table("brightspace", "", HEADER), list(range(len(HEADER)))
            people = [(_row(line), (), line) for line in self.lines]
            self.said.append(
                "without Brightspace's own export as --roster, students are found by id and username alone"
            )
        nameless = [line.student for row, _, line in people if line.cells and not any(row)]
        if nameless:
            self.said.append(f"no id and no username, and not in this file: {some(nameless)}")
        people = [one for one in people if any(one[0])]
        titles = [title for title in table.header if ITEM.fullmatch(title)]
        columns = {slug: self.column_of(slug, titles) for slug in self.lessons}
        new = [slug for slug, title in columns.items() if title not in titles]
        if new:
            self.said.append(f"{', '.join(new)}: no item of the export; tick that the import may create it")
        worth = {slug: match[1] if (match := WORTH.search(title or "")) else "" for slug, title in columns.items()}
        for slug, theirs in worth.items():
            self.scaled(slug, theirs)
        head = [table.header[place] for place in places]
        ours = {slug: (_item(columns[slug], slug), worth[slug]) for slug in self.lessons}
        return [
            self._file(name, head, people, {slug: ours[slug] for slug in slugs}, table)
            for name, slugs in self.spread("brightspace", ".csv", self.lessons, (line for *_, line in people)).items()
        ]

    def _file(
        self,
        name: str,
        head: list[str],
        people: list[tuple[tuple[str, ...], tuple[str, ...], Line]],
        items: dict[str, tuple[str, str]],
        table: Table,
    ) -> str:
        """A file of these lessons' items, each with its column's title and what that is worth."""
        path = self.file(name)
        with whole_file(path) as file:
            out = TableWriter(file)
            out.writerow([*head, *(title for title, _ in items.values()), END])
            for row, whole, line in people:
                there = dict(zip(table.header, whole, strict=False))
                if line.worked & items.keys():
                    cells = (
                        self.points(line, slug, worth, there.get(title, "")) for slug, (title, worth) in items.items()
                    )
                    out.writerow([*row, *cells, MARK])
        return str(path)


def _item(title: str | None, slug: str) -> str:
    """The column's title: the export's, or one for an item that the rules or the lesson name."""
    return title if title and ITEM.fullmatch(title) else f"{title or slug} Points Grade"


def _row(line: Line) -> tuple[str, ...]:
    """A student by what is known without an export of Brightspace's."""
    ids = line.person.ids if line.person else {}
    return (cell(ids.get("number", "")), cell(ids.get("login", "")))
