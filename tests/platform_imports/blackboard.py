"""Blackboard: Grade Center, Work Offline, Upload. Its source is not public.

library.blackboard.com/ref/3ea64795-6ecc-4abd-b595-0a9a8dfdec94, Uploading or Downloading Grade Center Items for Working
Offline: students are found by Username, columns by the number behind their name; a column without one becomes a new
one, of text and worth nothing.

Assumed, since no page says what an empty cell does: it takes away what is there.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

from platform_imports import CH05, CH06, WORTH, Book, Student, export, graded, roster

VARIANTS = {"export": WORTH, "no export": None}
COLUMNS = {CH05: "12345", CH06: "12346"}


def named(student: Student) -> str:
    return student.login


def write_export(folder: Path, variant: str, there: Book) -> list[Path]:
    file = folder / "gc.xls"
    if variant == "no export":
        file.write_text(roster(), encoding="utf-8")
        return [file]
    titles = {slug: f"{slug} [Total Pts: {WORTH:g} Score] |{number}" for slug, number in COLUMNS.items()}
    about: dict[str, Callable[[Student], str]] = {
        "Last Name": lambda one: one.last,
        "First Name": lambda one: one.first,
        "Username": lambda one: one.login,
        "Student ID": lambda one: one.number,
        "Last Access": lambda one: "2027",
        "Availability": lambda one: "Yes",
    }
    text = export(there, titles, about, {}, ".2f", delimiter="\t", quoting=csv.QUOTE_ALL)
    file.write_text(text, encoding="utf-16")
    return [file]


def options(folder: Path) -> list[str]:
    return []


def imported(reports: Path, there: Book, variant: str) -> Book:
    book = dict(there)
    for file in (reports / "blackboard.xls", *sorted((reports / "blackboard").glob("*.xls"))):
        if file.is_file():
            for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-16")), delimiter="\t"):
                for title, text in row.items():
                    number = re.search(r"\|(\d+)$", title)
                    slug = next((slug for slug, one in COLUMNS.items() if number and number[1] == one), None)
                    if slug is not None:
                        graded(book, row["Username"], slug, text)
    return book
