"""Brightspace: the CSV of Grades, Enter Grades, Import (D2L's article 3538, Importing grades).

OrgDefinedId or Username or both come first, then a column `<item> Points Grade` per item, then an end-of-line
indicator, `#`. Brightspace's own export puts `#` before ids, so that spreadsheets do not read them as numbers, and each
item's worth after its name, `<Numeric MaxPoints:63 Weight:10>`; both are accepted on import. Unknown items are created
if the importing teacher says so. Students without points get no row, since the article does not say what an empty cell
does.
"""

from __future__ import annotations

import re

from autograder.gradebook.roster import Table
from autograder.judging.records.results import whole_file
from autograder.reports.platforms.gradebook import GradebookReport, Line, as_it_came, unchanged_id
from autograder.reports.safety import Kept
from autograder.wording import some

HEADER = ("OrgDefinedId", "Username")
END, MARK = "End-of-Line Indicator", "#"
ITEM = re.compile(r".+ Points Grade(?: <.*>)?\s*", re.DOTALL)
WORTH = re.compile(r"MaxPoints:([\d.,]+)")


class BrightspaceReport(GradebookReport):
    """`brightspace.csv`, or a file per lesson if some students lack points that others have."""

    platform = "brightspace"

    def write(self) -> list[str]:
        found = self.tables("brightspace")
        if found:
            table, rows = found[-1]  # the newest export contains all columns of earlier ones
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
        files = self.spread("brightspace", ".csv", self.lessons, (line for *_, line in people))
        paths = [
            self._file(name, head, people, {slug: ours[slug] for slug in slugs}, table) for name, slugs in files.items()
        ]
        self.say_how_old(table)
        return paths

    def _file(
        self,
        name: str,
        head: list[str],
        people: list[tuple[tuple[str, ...], tuple[str, ...], Line]],
        items: dict[str, tuple[str, str]],
        table: Table,
    ) -> str:
        """Write a file of these lessons' items, given with column title and worth; return its path."""
        path = self.file(name)
        with whole_file(path) as file:
            out = self.writer(file)
            titles = (title for title, _ in items.values())
            out.writerow([*head, *(Kept(one) if one in table.header else one for one in titles), END])
            for row, whole, line in people:
                there = dict(zip(table.header, whole, strict=False))
                if line.worked & items.keys():
                    cells = (
                        self.points(line, slug, worth, there.get(title, "")) for slug, (title, worth) in items.items()
                    )
                    out.writerow([*as_it_came(head, row), *cells, MARK])
        return str(path)


def _item(title: str | None, slug: str) -> str:
    """The column's title: the export's, or one made from the item's name in the rules, or from the lesson."""
    return title if title and ITEM.fullmatch(title) else f"{title or slug} Points Grade"


def _row(line: Line) -> tuple[str, ...]:
    """A student's columns when there is no export from Brightspace."""
    ids = line.person.ids if line.person else {}
    return (unchanged_id(ids.get("number", "")), unchanged_id(ids.get("login", "")))
