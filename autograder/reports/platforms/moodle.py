"""Moodle: an assignment's grading worksheet, filled in (mod/assign/feedback/offline), or a table for Grades, Import.

A worksheet is returned with Grade and Feedback comments filled in. The importer finds a student by Identifier, which
differs between assignments, and requires Grade and Last modified (grade). It skips an empty grade, and replaces
existing feedback by the cell's (locallib.php, `process_import_grades`). Without a worksheet, students are mapped by
mail address or ID number. In such a table an empty cell deletes the grade (grade/import/csv, `update_grade_item`), an
empty feedback that is mapped deletes the feedback, and a row with an empty id is imported as the student of the row
before (`map_user_data_with_value`).

Moodle shows both kinds of feedback as HTML. It stores a worksheet's comments as FORMAT_HTML (`set_editor_text` in
moodle/moodle, mod/assign/feedback/comments/locallib.php), and feedback of Grades, Import as FORMAT_MOODLE
(`grade_import_commit` in grade/import/lib.php), in which tags count, too. So our feedback is escaped for HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from autograder.classroom.lesson_names import lessons_named
from autograder.gradebook.roster import Table
from autograder.judging.records.results import whole_file
from autograder.reports.platforms.gradebook import GradebookReport, Line, as_it_came, perhaps_id, unchanged_id
from autograder.reports.platforms.numbers import has_decimal_comma
from autograder.reports.safety import Kept, cell, disarmed, markup

COMMENTS = "feedback comments"
OURS = re.compile(r"\s*\[Autograder: [^]]*\]")
"""Our remark in a cell. The brackets tell a later report what to replace, and what a person wrote around it."""
EMPTY = ("p", "br", "div", "span")
"""Elements that show nothing themselves."""
IN_CSV = ("Full name", "Email address", "ID number")
BY_NUMBER = "-by-ID-number.csv"
"""How the file of those without a mail address ends."""
Worksheets = list[tuple[Table, list[tuple[tuple[str, ...], Line]]]]


class MoodleReport(GradebookReport):
    """`moodle/<worksheet>.csv` for each worksheet among the rosters, else `moodle/gradebook.csv`."""

    platform = "moodle"

    def write(self) -> list[str]:
        worksheets = [
            (table, rows) for table, rows in self.tables("moodle") if _places(table).keys() >= {"grade", "identifier"}
        ]
        if worksheets:
            newest = self._newest(worksheets)
            written = [line for table, rows in newest if (line := self._filled_in(table, rows))]
            for slug in self.lessons:  # of which each group may have a worksheet of its own
                rows = [row for table, found in newest if self._lesson_of(table) == slug for row in found]
                if rows:
                    self.not_in(rows, slug)
            return written
        return self._for_the_gradebook()

    def _newest(self, worksheets: Worksheets) -> Worksheets:
        """The worksheets without older ones of the same assignment: a participant's number belongs to one assignment.

        A report that fills in an old copy is in vain, because Moodle skips whom it graded after its download.
        """
        seen: set[str] = set()
        kept: Worksheets = []
        for table, rows in reversed(worksheets):
            numbers = {row[_places(table)["identifier"]] for row, _ in rows}
            if numbers & seen:
                self.said.append(f"left out, as a newer worksheet has the same participants: {table.file}")
            else:
                kept.insert(0, (table, rows))
            seen |= numbers
        return kept

    def _filled_in(self, table: Table, rows: list[tuple[tuple[str, ...], Line]]) -> str:
        slug = self._lesson_of(table)
        if slug is None:
            return f"{table.file}: which lesson is it of? Call the file after it, as ch06-worksheet.csv"
        if slug not in self.lessons:
            self.said.append(f"{table.file}: nobody handed in work for {slug}; nothing to fill in")
            return ""
        places = _places(table)
        path = self.file("moodle", table.file)
        most = next((row[places["maximum grade"]] for row, _ in rows), "") if "maximum grade" in places else ""
        comma = has_decimal_comma(most)
        self.scaled(slug, most)
        with whole_file(path) as file:
            out = self.writer(file)
            out.writerow(map(Kept, table.header))
            for row, line in rows:
                filled, there = as_it_came(table.header, row), row[places["grade"]]
                points = self.points(line, slug, most, there)
                if points != there:
                    filled[places["grade"]] = points.replace(".", ",") if comma else points
                if COMMENTS in places and slug in line.cells:
                    filled[places[COMMENTS]] = Kept(commented(row[places[COMMENTS]], line.cells[slug].said))
                out.writerow(filled)
        if COMMENTS in places:
            self.repeats = True  # an empty cell, too, replaces feedback
            self.say_how_old(table, "people's feedback, and points where there is no result,")
        else:
            self.say_how_old(table)
        if table.kept:
            self.said.append(
                f"Moodle skips whom it has graded since {table.file} was downloaded, by an import of yours, too: "
                "download it again, and give it as --roster"
            )
        return str(path)

    def _lesson_of(self, table: Table) -> str | None:
        named = lessons_named(table.file.rpartition(".")[0])
        if len(named) == 1:
            return named[0]
        columns = [
            slug
            for slug in self.order.classroom.due
            if (self.order.classroom.rules.of(slug).column or "\0") in table.file
        ]
        only = columns or list(self.order.classroom.due)
        return only[0] if len(only) == 1 else None

    def _for_the_gradebook(self) -> list[str]:
        """Write files without empty cells; returns their paths.

        An empty cell would delete a grade or feedback. An empty id would give a row's points to the student of the row
        before (grade/import/csv, `map_user_data_with_value`), so a column of ids is written only if it is full, and
        students without a mail address have a file of their own.
        """
        written, lost, apart = [], list[str](), False
        for name, slugs in self.spread("moodle/gradebook", ".csv", self.lessons, self.lines).items():
            people = [(_found_by(line), line) for line in self.lines if line.worked & set(slugs)]
            lost += [line.student for (mail, number), line in people if not mail and not number]
            mailed = [(ids, line) for ids, line in people if ids[0]]
            others = [(ids[1:], line) for ids, line in people if ids[1] and not ids[0]]
            if mailed and all(number for (_, number), _ in mailed):
                written.append(self._table(name, IN_CSV, mailed, slugs))
            elif mailed:
                written.append(self._table(name, IN_CSV[:2], [(ids[:1], line) for ids, line in mailed], slugs))
            if others:
                apart = True
                name = f"{name.removesuffix('.csv')}{BY_NUMBER}"
                written.append(self._table(name, (IN_CSV[0], IN_CSV[2]), others, slugs))
        self.say_without("no mail address and no ID number", list(dict.fromkeys(lost)))
        ids = f"Email address (in …{BY_NUMBER}, ID number)" if apart else "Email address"
        self.said.append(
            f"import it under Grades, Import, CSV: map {ids} and the points; to replace what feedback is there, and "
            "only then, map a lesson's feedback, too"
        )
        return written

    def _table(
        self, name: str, head: Sequence[str], people: Sequence[tuple[tuple[str, ...], Line]], slugs: Sequence[str]
    ) -> str:
        """Write a file for Grades, Import: names, ids, and each lesson's points and feedback. Returns its path."""
        path = self.file(name)
        with whole_file(path) as file:
            out = self.writer(file)
            titles = [self.column_of(slug, ()) or slug for slug in slugs]
            out.writerow([*head, *(text for title in titles for text in (title, f"{title} (feedback)"))])
            for ids, line in people:
                said = [
                    one for slug in slugs for one in (self.points(line, slug), commented("", line.cells[slug].said))
                ]
                out.writerow([cell(line.person.name if line.person else line.student), *ids, *said])
        return str(path)


def _found_by(line: Line) -> tuple[str, str]:
    """A student's mail address and ID number; empty if unknown."""
    person = line.person
    if person is None:
        return perhaps_id(line.student) if "@" in line.student else "", ""
    return unchanged_id(person.mail), unchanged_id(person.ids.get("number") or person.ids.get("sis", ""))


def commented(there: str, said: str) -> str:
    """A cell of feedback: a person's own text, then our remark in brackets, in place of an earlier one."""
    before = OURS.sub("", there)
    if before == there and not said:
        return there
    before = "" if _Emptiness.of(before) else before
    ours = disarmed(f"[Autograder: {markup(said.replace(']', ')'))}]") if said else ""
    return f"{before.rstrip()} {ours}".strip() if ours else before


class _Emptiness(HTMLParser):
    """Finds anything in feedback that Moodle shows: text, or an element such as a picture or a recording."""

    def __init__(self) -> None:
        super().__init__()
        self.empty = True

    @classmethod
    def of(cls, text: str) -> bool:
        """Whether feedback is only white space in paragraphs, as Moodle's editor leaves it."""
        parser = cls()
        parser.feed(text)
        parser.close()
        return parser.empty

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.empty &= tag in EMPTY

    def handle_data(self, data: str) -> None:
        self.empty &= not data.strip()

    def handle_comment(self, data: str) -> None:
        self.empty = False

    def handle_decl(self, decl: str) -> None:
        self.empty = False

    def handle_pi(self, data: str) -> None:
        self.empty = False

    def unknown_decl(self, data: str) -> None:
        self.empty = False


def _places(table: Table) -> dict[str, int]:
    return {title.strip().lower(): place for place, title in enumerate(table.header) if title.strip()}
