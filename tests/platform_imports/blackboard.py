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
from pathlib import Path

from platform_imports import CH05, CH06, CLASS, WORTH, Book, Entry, Student, graded, roster

VARIANTS = {"export": WORTH, "no export": None}
COLUMNS = {CH05: "12345", CH06: "12346"}


def named(student: Student) -> str:
    return student.login


def write_export(folder: Path, variant: str, there: Book) -> list[Path]:
    file = folder / "gc.xls"
    if variant == "no export":
        file.write_text(roster(), encoding="utf-8")
        return [file]
    out = io.StringIO()
    rows = csv.writer(out, delimiter="\t", quoting=csv.QUOTE_ALL)
    titles = [f"{slug} [Total Pts: {WORTH:g} Score] |{number}" for slug, number in COLUMNS.items()]
    rows.writerow(["Last Name", "First Name", "Username", "Student ID", "Last Access", "Availability", *titles])
    for one in CLASS:
        entries = [there.get((one.login, slug), Entry()) for slug in COLUMNS]
        cells = ["" if entry.grade is None else f"{entry.grade:.2f}" for entry in entries]
        rows.writerow([one.last, one.first, one.login, one.number, "2027", "Yes", *cells])
    file.write_text(out.getvalue(), encoding="utf-16")
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
