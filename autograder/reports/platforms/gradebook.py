"""The base of all platforms' gradebooks: a cell per student and lesson, in the platform's columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TextIO

from autograder.classroom.class_record import GONE
from autograder.gradebook.columns import EXCUSED, columns_of
from autograder.gradebook.roster import FIELDS, Person, Table
from autograder.reports.class_results import StudentWork, is_work
from autograder.reports.formats import Order, Report
from autograder.reports.platforms.numbers import number, written
from autograder.reports.safety import LONGEST, Kept, TableWriter, cell, disarmed
from autograder.wording import clean, counted, quoted, some

MOST_NAMED = 20
"""At most this many students of a remark are named: the remark is the only place that says for whom to act."""
UNGRADED = ("killed",)
"""Statuses of results without known points; their cells stay as they are."""
SHOWN_ONLY = {*FIELDS["name"], *FIELDS["last"], *FIELDS["first"], "online text"}
"""Titles, in lower case, of columns that learners fill and no import reads while an id is there.

Canvas matches by ID, SIS User ID and SIS Login ID before names (lib/gradebook_importer.rb, `process_student`), Moodle
by Identifier (mod/assign/feedback/offline/importgradeslib.php, `next`), Blackboard by Username.
"""
PLAIN_ID = re.compile(r"[-+\w][-+.@\w]*")
"""Names of hand-ins that may be ids: none can be more than a sum in a spreadsheet."""
EXCUSED_ELSEWHERE = "excused elsewhere, and nothing is in this file for these; excuse them there, too"


@dataclass(frozen=True)
class Cell:
    """A student's points for a lesson, and the remark on them."""

    points: float
    max_points: float
    said: str = ""
    worked: bool = True
    """Whether the hand-in contains work, unlike the notebook as handed out."""


@dataclass(frozen=True)
class Line:
    """A student's points by lesson."""

    student: str
    person: Person | None
    cells: dict[str, Cell]
    gone: frozenset[str] = frozenset()
    """Lessons whose hand-in was deleted."""
    excused: frozenset[str] = frozenset()
    """Lessons from which the student is excused."""
    excused_work: frozenset[str] = frozenset()
    """The excused lessons that the student handed in with work nevertheless."""

    @property
    def worked(self) -> frozenset[str]:
        """Lessons that have a result with work."""
        return frozenset(slug for slug, cell in self.cells.items() if cell.worked)


class GradebookReport(Report):
    """A platform's gradebook. Only points and remarks are kept in memory, so that classes of thousands fit.

    An imported file never deletes anything: a cell without a result repeats the platform's own export, or is left out
    if there is none.
    """

    platform = ""
    excuse = ""
    """The importer's word for an excuse; empty if it has none."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self.lessons = order.classroom.due
        self.lines: list[Line] = []
        self.said: list[str] = []
        """Remarks on the files, a line each."""
        self.repeats = False
        """Whether cells of the platform's own table, which may be old, have been kept."""
        self._writers: list[TableWriter] = []
        self._ungraded = 0
        self._remarks: dict[tuple[str, str], list[str]] = {}
        """By lesson and remark: the students concerned."""

    def add(self, work: StudentWork) -> None:
        """Keep a student's points; a hand-in that could not be graded has none."""
        cells = {}
        for result in work.results:
            if result.status in UNGRADED:
                self._ungraded += 1
            elif result.lesson in self.lessons and result.lesson not in work.excused:
                cells[result.lesson] = Cell(result.points, result.max_points, result.message, is_work(result))
        gone = frozenset(row.lesson for row in work.uncounted if row.status == GONE and row.lesson not in cells)
        if work.results or work.person is not None:
            free = work.excused & {*self.lessons}
            all_the_same = frozenset(one.lesson for one in work.results if one.lesson in free and is_work(one))
            self.lines.append(Line(work.student, work.person, cells, gone, free, all_the_same))

    def finish(self) -> list[str]:
        worked = {slug for line in self.lines for slug, cell in line.cells.items() if cell.worked}
        self.lessons = tuple(slug for slug in self.lessons if slug in worked)
        if not self.lessons:
            self.said.append("nobody handed in work: there is nothing to import")
        written = self.write() if self.lessons else []
        self._say_formulas()
        self.said += [f"{slug}: {what}: {some(who, MOST_NAMED)}" for (slug, what), who in self._remarks.items()]
        if self._ungraded:
            self.said.append(f"{counted(self._ungraded, 'hand-in')} could not be graded: nothing changes there")
        return [f"{self.platform}: {line}" for line in (*written, *self.said)]

    def write(self) -> list[str]:
        """Write the files; returns their paths."""
        raise NotImplementedError

    def tables(self, platform: str) -> list[tuple[Table, list[tuple[tuple[str, ...], Line]]]]:
        """The platform's tables among the rosters, newest last, each with its rows and their students."""
        found: dict[Table, dict[int, tuple[tuple[str, ...], Line]]] = {}
        older: set[Table] = set()
        for line in self.lines:
            theirs = [one for one in (line.person.rows if line.person else ()) if one[0].platform == platform]
            for table, place, row in theirs:
                found.setdefault(table, {})[place] = (row, line)
            older.update(table for table, _, _ in theirs if table != theirs[-1][0])
        tables = sorted(found, key=lambda table: table not in older)
        return [(table, [rows[place] for place in sorted(rows)]) for table in tables if (rows := found[table])]

    def writer(self, file: TextIO, delimiter: str = ",") -> TableWriter:
        """A table whose formulas, if it must keep some, get a remark."""
        self._writers.append(TableWriter(file, delimiter=delimiter))
        return self._writers[-1]

    def _say_formulas(self) -> None:
        formulas = list(dict.fromkeys(one for writer in self._writers for one in writer.formulas))
        if formulas:
            self.said.append(
                "do not open this in a spreadsheet, which would read formulas in cells that the import needs "
                f"unchanged: {some([quoted(one) for one in formulas])}"
            )

    def say_how_old(self, table: Table, what: str = "where there is no result, cells") -> None:
        """Add a remark if cells written since the last call repeat an older copy of the export."""
        if table.kept and self.repeats:
            self.said.append(
                f"{what} are as {table.file} had them when you graded; if anything was changed there since, export it "
                "again, and give it as --roster"
            )
        self.repeats = False

    def not_in(self, rows: Iterable[tuple[tuple[str, ...], Line]], slug: str = "") -> None:
        """Add a remark on students with points, for the lesson if one is named, who are missing in these rows."""
        there = {line.student for _, line in rows}
        graded = [line for line in self.lines if (slug in line.cells if slug else line.cells)]
        gone = [line.student for line in graded if line.student not in there]
        if gone:
            self.said.append(
                f"{f'{slug}: ' if slug else ''}in no row of the roster, and not in this file: {some(gone, MOST_NAMED)}"
            )

    def say_without(self, what: str, who: Sequence[str]) -> None:
        """Add a remark on students whom the platform cannot find, because no roster has the id that it needs."""
        if who:
            self.said.append(f"{some(who)}: {what} is known, so the import finds nobody; give a --roster that has it")

    def spread(
        self, name: str, ending: str, slugs: Sequence[str], lines: Iterable[Line], beside: bool = False
    ) -> dict[str, list[str]]:
        """Distribute lessons whose cells on the platform are unknown over files, so that no file has an empty cell.

        Returns lessons by file name. `beside`: whether another file, of lessons with known contents, is written as
        well.
        """
        people = list(lines)
        for line in people:
            for slug in (line.cells.keys() - line.worked) & set(slugs):
                self._remark(slug, "no work in the notebook that was handed in, and no points in this file", line)
            for slug in (line.excused - self.has_cell(line)) & set(slugs):
                self._remark(slug, EXCUSED_ELSEWHERE, line)
        handed_in = {slug: frozenset(line.student for line in people if slug in self.has_cell(line)) for slug in slugs}
        if len(set(handed_in.values())) <= 1 and not beside:
            return {f"{name}{ending}": list(slugs)}
        return {f"{name}/{slug}{ending}": [slug] for slug in slugs if handed_in[slug]}

    def column_of(self, slug: str, titles: Iterable[str]) -> str | None:
        """The platform's column of a lesson: named by the rules, or recognised by its title."""
        rules = self.order.classroom.rules
        meant = columns_of(slug, rules, titles)
        if len(meant) > 1:
            self.said.append(f"{slug} could be {' or '.join(map(repr, meant))}: the rules say which, column = …")
        return meant[0] if len(meant) == 1 else rules.of(slug).column or None

    def has_cell(self, line: Line) -> frozenset[str]:
        """Lessons for which a student has points or an excuse to import."""
        return line.worked | (line.excused if self.excuse else frozenset())

    def points(self, line: Line, slug: str, worth: str = "", there: str = "") -> str:
        """The content of a cell.

        Args:
            worth: points that the platform's column is worth; points are scaled to it.
            there: the cell in the platform's export. It is kept if there is no result and if the student is excused
                there. A hand-in without work keeps it unless it is empty.
        """
        new = self._new_points(line, slug, worth, there)
        self.repeats |= new is None
        return Kept(there) if new is None else new

    def _new_points(self, line: Line, slug: str, worth: str, there: str) -> str | None:
        """What replaces a cell of the platform's; None if it is kept."""
        cell = line.cells.get(slug)
        if EXCUSED.fullmatch(there):
            if slug in line.excused_work:
                self._remark(slug, "excused there, and stay so; give these their points there", line)
            return None
        if slug in line.excused:  # by another platform's table
            if there.strip() or not self.excuse:
                self._remark(slug, EXCUSED_ELSEWHERE, line)
            return None if there.strip() or not self.excuse else self.excuse
        if cell is None:
            if there.strip() and slug in line.gone:
                self._remark(slug, "points there stay, though what was handed in is gone here", line)
            elif number(there):
                self._remark(slug, "points there stay, and there is no result here", line)
            return None
        if not cell.worked:
            no_work = "since the notebook that was handed in has no work in it"
            if number(there) or not there.strip():
                self._remark(slug, f"{'points there stay' if there.strip() else '0 points'}, {no_work}", line)
            if there.strip():
                return None
        theirs = number(worth, cell.max_points)
        points = cell.points if not theirs or not cell.max_points else cell.points * theirs / cell.max_points
        if points < number(there, points) - 0.005:
            self._remark(slug, "will have fewer points than there are there now", line)
        return written(points)

    def scaled(self, slug: str, worth: str) -> None:
        """Add a remark if a platform's column is worth more or less than the lesson."""
        ours = self.order.classroom.worth(slug)
        theirs = number(worth, ours)
        if theirs and theirs != ours:
            self.said.append(f"{slug}: points of {ours:g} are scaled to the {theirs:g} of the column")

    def _remark(self, slug: str, what: str, line: Line) -> None:
        self._remarks.setdefault((slug, what), []).append(line.student)


def as_it_came(header: Sequence[str], row: Sequence[str]) -> list[str]:
    """Cells of the platform's own table, unchanged but for formulas in what learners wrote and no import reads."""
    shown = [
        disarmed(text) if title.strip().lower() in SHOWN_ONLY else text
        for title, text in zip(header, row, strict=False)
    ]
    return [Kept(text) for text in (*shown, *row[len(header) :])]


def unchanged_id(text: str) -> str:
    """An id of a roster, by which an import finds a person; only invisible characters are escaped."""
    return Kept(clean(text, LONGEST))


def perhaps_id(name: str) -> str:
    """The name of a hand-in of somebody on no roster, in place of an id: unchanged if it can be one."""
    return unchanged_id(name) if PLAIN_ID.fullmatch(name) else cell(name)
