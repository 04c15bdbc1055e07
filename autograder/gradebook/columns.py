"""Which column of a platform's table is a lesson's, and whom the table excuses from one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set

from autograder.classroom.lesson_names import lessons_named
from autograder.gradebook.roster import Person, Table
from autograder.gradebook.rules import Rules
from course.syllabus import syllabus

COLUMN_ID = re.compile(r"\s*(\(\d+\)|\[Total Pts:.*|Points Grade(?: <.*>)?)\s*$")
"""What a platform puts behind an assignment's name."""
NO_ASSIGNMENT = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")
"""Canvas's columns of groups of assignments, which its importer passes over, too."""
EXCUSED = re.compile(r"\s*(EX|Excused|Exempt(?:ed)?|N/A)\s*", re.IGNORECASE)
"""What a gradebook shows for who need not hand in: Canvas's importer takes the first two for that, and its exporter
writes N/A for who was not assigned the work."""
NOT_ASSIGNED = re.compile(r"\s*N/A\s*", re.IGNORECASE)
"""In a whole column it excuses nobody: so Canvas shows an anonymous assignment until its grades are posted
(gradebook_exporter.rb, `unposted_anonymous_submissions?`)."""


def columns_of(slug: str, rules: Rules, titles: Iterable[str]) -> list[str]:
    """The columns that may be a lesson's: the one that the rules name, else those whose name says the lesson."""
    listed = list(titles)
    named = rules.of(slug).column
    if named:
        return [title for title in listed if named in (title.strip(), COLUMN_ID.sub("", title).strip())][:1]
    assignments = [title for title in listed if not NO_ASSIGNMENT.search(title)]
    return [title for title in assignments if lessons_named(COLUMN_ID.sub("", title)) == [slug]]


class Excuses:
    """Who is excused from which lesson, by the newest table of each platform that has a column for it."""

    def __init__(self, rules: Rules, people: Iterable[Person]) -> None:
        self._rules = rules
        self._columns: dict[int, tuple[Table, dict[str, int]]] = {}
        self._assigned: set[tuple[int, int]] = set()
        """The columns of tables that say N/A of some, and not of everybody."""
        for table, _, row in (one for person in people for one in person.rows):
            for place in self._lessons_in(table).values():
                if not NOT_ASSIGNED.fullmatch(row[place]):
                    self._assigned.add((id(table), place))

    def of(self, person: Person | None) -> dict[str, str]:
        """The lessons from which somebody is excused, each with the words that say so."""
        excused: dict[str, str] = {}
        decided: set[tuple[str, str]] = set()
        for table, _, row in reversed(person.rows if person else ()):
            for slug, place in self._lessons_in(table).items():
                if (table.platform, slug) not in decided:
                    decided.add((table.platform, slug))
                    if EXCUSED.fullmatch(row[place]) and (id(table), place) in self._assigned:
                        excused.setdefault(slug, f"Excused: {table.file} has {row[place].strip()} here.")
        return excused

    def from_all_of(self, lessons: Set[str]) -> Callable[[Person], bool]:
        """Whether somebody need hand in none of these lessons."""
        return lambda person: bool(lessons) and lessons <= self.of(person).keys()

    def _lessons_in(self, table: Table) -> dict[str, int]:
        """Where a table has which lesson; a lesson with several columns is in none."""
        if id(table) not in self._columns:
            found = {slug: columns_of(slug, self._rules, table.header) for slug in syllabus()}
            if table.platform == "moodle":  # a worksheet is of the one assignment that its file is called after
                grade = [title for title in table.header if title.strip().lower() == "grade"]
                found |= dict.fromkeys(lessons_named(table.file.rpartition(".")[0])[:2], grade)
            places = {slug: table.header.index(titles[0]) for slug, titles in found.items() if len(titles) == 1}
            self._columns[id(table)] = table, places
        return self._columns[id(table)][1]
