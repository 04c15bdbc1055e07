"""What each platform does with a file that is imported, written after its source or its documentation.

A module is called as its format of `backprop report`, and has

    VARIANTS    what a teacher can give as --roster (`export` is the platform's own), with what all points of ch06 are
                there then; None: they go into a new column
    named       what results call a student's hand-in
    write_export(folder, variant, there) -> rosters    `there`: what the platform's gradebook holds
    options(folder)                                    for `backprop report`
    imported(reports, there, variant) -> Book          what the gradebook holds afterwards
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from course.syllabus import find_lesson

CH05, CH06 = "ch05_autograd_engine", "ch06_vjps"
ALL_POINTS = find_lesson(CH06).points
WORTH = 100.0
"""What the platform's column of each lesson is worth."""


@dataclass(frozen=True)
class Student:
    """Somebody in the class."""

    first: str
    last: str
    number: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def login(self) -> str:
        return f"{self.first}{self.last}".lower()

    @property
    def mail(self) -> str:
        return f"{self.login}@x.edu"


@dataclass(frozen=True)
class Entry:
    """A cell of a gradebook."""

    grade: float | None = None
    excused: bool = False
    comment: str = ""


Book = dict[tuple[str, str], Entry]
"""By student's login and lesson."""
CLASS = [
    Student(*row)
    for row in (
        ("Ada", "King", "101"),
        ("Bob", "Miller", "102"),
        ("Eve", "Lee", "103"),
        ("Kim", "Roy", "104"),
        ("Lou", "Fox", "105"),
    )
]


def roster(delimiter: str = ",") -> str:
    """A table of a teacher's own, with no grade in it."""
    rows = [("name", "mail", "login", "id"), *((one.name, one.mail, one.login, one.number) for one in CLASS)]
    return "".join(delimiter.join(row) + "\n" for row in rows)


def export(
    there: Book,
    columns: dict[str, str],
    about: dict[str, Callable[[Student], str]],
    end: dict[str, str],
    written: str = "g",
    **how: Any,
) -> str:
    """A platform's table: what it says of each student, a cell for each lesson, and what ends a row.

    Args:
        columns: the titles of lessons' columns, by slug.
        written: the format of points; no grade is an empty cell.
        how: what `csv.writer` takes.
    """
    out = io.StringIO()
    rows = csv.writer(out, **how)
    rows.writerow([*about, *columns.values(), *end])
    for one in CLASS:
        grades = [there.get((one.login, slug), Entry()).grade for slug in columns]
        cells = ["" if grade is None else format(grade, written) for grade in grades]
        rows.writerow([*(say(one) for say in about.values()), *cells, *end.values()])
    return out.getvalue()


def graded(book: Book, student: str, lesson: str, text: str) -> None:
    """Put points into the book as a platform that takes an empty cell for no points."""
    entry = book.get((student, lesson), Entry())
    book[student, lesson] = replace(entry, grade=float(text) if text.strip() else None, excused=False)
