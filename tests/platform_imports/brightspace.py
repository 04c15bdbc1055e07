"""Brightspace: Grades, Enter Grades, Import. Its source is not public.

community.d2l.com/brightspace/kb/articles/3538-importing-grades: OrgDefinedId or Username, `<item> Points Grade`, an
indicator of the line's end; who has no row is left alone.

Assumed, since the article does not say what an empty cell does: it takes away what is there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

from platform_imports import ALL_POINTS, CH05, CH06, CLASS, WORTH, Book, Student, export, graded, roster

VARIANTS = {"export": WORTH, "no export": ALL_POINTS}
ITEMS = (CH05, CH06)


def named(student: Student) -> str:
    return student.name


def write_export(folder: Path, variant: str, there: Book) -> list[Path]:
    file = folder / "brightspace-export.csv"
    if variant == "no export":
        file.write_text(roster(), encoding="utf-8")
        return [file]
    titles = {slug: f"{slug} Points Grade <Numeric MaxPoints:{WORTH:g} Weight:10>" for slug in ITEMS}
    about: dict[str, Callable[[Student], str]] = {
        "OrgDefinedId": lambda one: f"#{one.number}",
        "Username": lambda one: f"#{one.login}",
        "Last Name": lambda one: one.last,
        "First Name": lambda one: one.first,
        "Email": lambda one: one.mail,
    }
    file.write_text(export(there, titles, about, {"End-of-Line Indicator": "#"}), encoding="utf-8")
    return [file]


def options(folder: Path) -> list[str]:
    return []


def imported(reports: Path, there: Book, variant: str) -> Book:
    book = dict(there)
    for file in (reports / "brightspace.csv", *sorted((reports / "brightspace").glob("*.csv"))):
        if file.is_file():
            for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))):
                student = next(
                    one
                    for one in CLASS
                    if row["Username"].lstrip("#") == one.login or row["OrgDefinedId"].lstrip("#") == one.number
                )
                assert row["End-of-Line Indicator"] == "#"
                for title, text in row.items():
                    slug = title.partition(" Points Grade")[0]
                    if slug in ITEMS:
                        graded(book, student.login, slug, text)
    return book
