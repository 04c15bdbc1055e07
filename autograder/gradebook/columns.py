"""Finds the column of each lesson in a platform's table, and the students whom the table excuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set

from autograder.classroom.lesson_names import lessons_named
from autograder.gradebook.roster import Person, Table
from autograder.gradebook.rules import Rules
from course.syllabus import syllabus

COLUMN_ID = re.compile(r"\s*(\(\d+\)|\[Total Pts:.*|Points Grade(?: <.*>)?)\s*$")
"""Suffixes that platforms append to an assignment's name."""
NO_ASSIGNMENT = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")
"""Canvas's totals of assignment groups, which its importer ignores, too."""
EXCUSED = re.compile(r"\s*(EX|Excused|Exempt(?:ed)?|N/A)\s*", re.IGNORECASE)
"""Cells of students who need not hand in. Canvas imports the first two as an excuse, and exports N/A for a student to
whom the work was not assigned."""
NOT_ASSIGNED = re.compile(r"\s*N/A\s*", re.IGNORECASE)
"""If the whole column says so, it excuses nobody: Canvas exports an anonymous assignment like that until its grades are
posted (gradebook_exporter.rb, `unposted_anonymous_submissions?`)."""


def columns_of(slug: str, rules: Rules, titles: Iterable[str]) -> list[str]:
    """The columns that may belong to a lesson: the one that the rules name, otherwise those named after the lesson."""
    listed = list(titles)
    named = rules.of(slug).column
    if named:
        return [title for title in listed if named in (title.strip(), COLUMN_ID.sub("", title).strip())][:1]
    assignments = [title for title in listed if not NO_ASSIGNMENT.search(title)]
    return [title for title in assignments if lessons_named(COLUMN_ID.sub("", title)) == [slug]]


class Excuses:
    """The excuses of each student, from the newest table of each platform that has a column for the lesson."""

    def __init__(self, rules: Rules, people: Iterable[Person]) -> None:
        self._rules = rules
        self._columns: dict[int, tuple[Table, dict[str, int]]] = {}
        self._assigned: set[tuple[int, int]] = set()
        """Columns in which at least one student has something other than N/A."""
        for table, _, row in (one for person in people for one in person.rows):
            for place in self._lessons_in(table).values():
                if not NOT_ASSIGNED.fullmatch(row[place]):
                    self._assigned.add((id(table), place))

    def of(self, person: Person | None) -> dict[str, str]:
        """The lessons from which a student is excused, each with a sentence that names the table and its cell."""
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
        """Return a function that says whether a student is excused from all of these lessons."""
        return lambda person: bool(lessons) and lessons <= self.of(person).keys()

    def _lessons_in(self, table: Table) -> dict[str, int]:
        """Lesson to column number; lessons with several possible columns are left out."""
        if id(table) not in self._columns:
            found = {slug: columns_of(slug, self._rules, table.header) for slug in syllabus()}
            if table.platform == "moodle":  # a worksheet is of the one assignment that its file is called after
                grade = [title for title in table.header if title.strip().lower() == "grade"]
                found |= dict.fromkeys(lessons_named(table.file.rpartition(".")[0])[:2], grade)
            places = {slug: table.header.index(titles[0]) for slug, titles in found.items() if len(titles) == 1}
            self._columns[id(table)] = table, places
        return self._columns[id(table)][1]
