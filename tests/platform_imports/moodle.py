"""Moodle (github.com/moodle/moodle): an assignment's grading worksheet, or a CSV under Grades, Import.

mod/assign/feedback/offline/importgradeslib.php and locallib.php; grade/import/csv/classes/load_data.php and
grade/import/lib.php.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

from platform_imports import ALL_POINTS, CH05, CH06, CLASS, WORTH, Book, Entry, Student, graded, roster

VARIANTS = {"export": WORTH, "no export": ALL_POINTS}
HEADER = [
    *("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed"),
    *("Last modified (submission)", "Last modified (grade)", "Feedback comments"),
]
FIRST = {CH05: 500, CH06: 600}
"""Participants have other numbers in each assignment."""


def named(student: Student) -> str:
    return student.name


def write_export(folder: Path, variant: str, there: Book) -> list[Path]:
    if variant == "no export":
        (folder / "class.csv").write_text(roster(), encoding="utf-8")
        return [folder / "class.csv"]
    files = []
    for slug, first in FIRST.items():
        out = io.StringIO()
        rows = csv.writer(out)
        rows.writerow(HEADER)
        for place, one in enumerate(CLASS):
            entry = there.get((one.login, slug), Entry())
            grade = "" if entry.grade is None else f"{entry.grade:.2f}"
            who = [f"Participant {first + place}", one.name, one.mail, "Submitted for grading"]
            rows.writerow([*who, grade, f"{WORTH:.2f}", "Yes", "-", "-", entry.comment])
        files.append(folder / f"Grades-{slug}.csv")
        files[-1].write_text(out.getvalue(), encoding="utf-8")
    return files


def options(folder: Path) -> list[str]:
    return []


def imported(reports: Path, there: Book, variant: str) -> Book:
    book = dict(there)
    for file in sorted((reports / "moodle").rglob("*.csv")):
        rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
        if file.name.startswith("Grades-"):
            _worksheet(rows, book)
        else:
            _gradebook(rows, book)
    return book


def _worksheet(rows: list[dict[str, str]], book: Book) -> None:
    """`process_import_grades`, with the tick at `Update records that have been modified more recently`."""
    by_number = {f"Participant {FIRST[slug] + i}": (one.login, slug) for slug in FIRST for i, one in enumerate(CLASS)}
    for row in rows:
        assert row.keys() >= {"Identifier", "Grade", "Last modified (grade)"}, "invalidgradeimport"
        key = by_number[row["Identifier"]]
        entry = book.get(key, Entry())
        if row["Grade"] and 0 <= float(row["Grade"]) <= WORTH:  # "Skip - grade has no value", "Out of range"
            entry = replace(entry, grade=float(row["Grade"]))
        if row["Feedback comments"] != entry.comment:  # set_editor_text, whatever the value is
            entry = replace(entry, comment=row["Feedback comments"])
        book[key] = entry


def _gradebook(rows: list[dict[str, str]], book: Book) -> None:
    """`prepare_import_grade_data`, mapped as the report says: mail address and points, and no feedback."""
    for row in rows:
        student = next(one for one in CLASS if one.mail == row["Email address"])  # usermappingerrorusernotfound
        for slug in FIRST:
            if slug in row:
                text = row[slug].strip()
                graded(book, student.login, slug, "" if text == "-" else text)  # update_grade_item: '' is null
