"""Canvas (github.com/instructure/canvas-lms): lib/gradebook_importer.rb, and what the page of the upload sends.

The export is that of lib/gradebook_exporter.rb: two decimals, `EX` for who is excused, a row of points possible.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

from platform_imports import ALL_POINTS, CH05, CH06, CLASS, WORTH, Book, Entry, Student, roster

VARIANTS = {"export": WORTH, "semicolons": WORTH, "no export": ALL_POINTS}
ASSIGNMENTS = {CH05: "41001", CH06: "41002"}


def named(student: Student) -> str:
    """`Submissions`, as content_zipper.rb calls them: the sortable name without its signs, and the user."""
    return f"{student.last}{student.first}_{student.number}".lower()


def write_export(folder: Path, variant: str, there: Book) -> list[Path]:
    text = roster()
    if variant != "no export":  # csv_with_i18n.rb: a language with decimal commas has semicolons between columns
        out = io.StringIO()
        rows = csv.writer(out, delimiter=";" if variant == "semicolons" else ",")
        titles = [f"{slug} ({number})" for slug, number in ASSIGNMENTS.items()]
        rows.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles, "Final Score"])
        possible = [_in_language(f"{WORTH:.2f}", variant)] * len(ASSIGNMENTS)
        rows.writerow(["    Points Possible", "", "", "", "", *possible, "(read only)"])
        for one in CLASS:
            cells = [_in_language(_exported(there.get((one.login, slug), Entry())), variant) for slug in ASSIGNMENTS]
            rows.writerow([f"{one.last}, {one.first}", one.number, f"s{one.number}", one.login, "Lab", *cells, "50.00"])
        text = out.getvalue()
    file = folder / "canvas-export.csv"
    file.write_text(text, encoding="utf-8")
    return [file]


def options(folder: Path) -> list[str]:
    return []


def imported(reports: Path, there: Book, variant: str) -> Book:
    book = dict(there)
    for file in (reports / "canvas.csv", *sorted((reports / "canvas").glob("*.csv"))):
        if file.is_file():
            _import(file, book)
    return book


def _in_language(number: str, variant: str) -> str:
    return number.replace(".", ",") if variant == "semicolons" else number


def _exported(entry: Entry) -> str:
    """gradebook_exporter.rb, `csv_data`."""
    return "EX" if entry.excused else "" if entry.grade is None else f"{entry.grade:.2f}"


def _import(file: Path, book: Book) -> None:
    rows = [[_converted(cell) for cell in row] for row in csv.reader(io.StringIO(file.read_text(encoding="utf-8")))]
    header = rows[0]
    # `row_has_student_headers?`, `update_column_count`: ID second, the SIS columns, Section last
    assert "Student" in header[0]
    assert "ID" in header[1]
    assert "Section" in header[4]
    columns = {place: _assignment(title) for place, title in enumerate(header) if place > 4}
    for row in rows[1:]:
        if "Points Possible" in row[0]:  # `check_for_non_student_row`; of assignments that exist, it changes nothing
            continue
        student = _student(row)
        for place, slug in columns.items():
            if slug is not None:
                _submission(book, student.login, slug, row[place].strip())


def _converted(cell: str) -> str:
    """`CSV::Converters[:decimal_comma_to_period]`."""
    if not re.fullmatch(r"-?[0-9.,]+%?", cell):
        return cell
    *whole, last = re.split("[,.]", cell)
    return f"{''.join(whole)}.{last}" if whole else last


def _assignment(title: str) -> str | None:
    """`parse_assignments`: by the id behind the title, else by the title; None: a new one, which it asks about."""
    match = re.fullmatch(r".*\((\d+)\)", title)
    by_id = {number: slug for slug, number in ASSIGNMENTS.items()}
    if match and match[1] in by_id:
        return by_id[match[1]]
    return title if title in ASSIGNMENTS else None


def _student(row: list[str]) -> Student:
    """`process_student`: by ID, else by the SIS user's id, else by the login, else by the name."""
    for wanted in (
        lambda one: row[1] == one.number,
        lambda one: row[2] == f"s{one.number}",
        lambda one: row[3] == one.login,
        lambda one: row[0] in (one.name, f"{one.last}, {one.first}"),
    ):
        if found := [one for one in CLASS if wanted(one)]:
            return found[0]
    raise AssertionError(f"{row[:4]} would be a new student")


def _submission(book: Book, student: str, slug: str, grade: str) -> None:
    """`no_change_to_value?`, then process_gradebook_upload.js, `populateGradeDataPerSubmission`."""
    entry = book.get((student, slug), Entry())
    original = _exported(entry)
    if grade == original or (original in ("", "-") and grade in ("", "-")):
        return
    if grade.upper() in ("EX", "EXCUSED"):
        book[student, slug] = replace(entry, excused=True, grade=None)
    else:  # app/models/abstract_assignment.rb, `save_grade_to_submission`: an empty grade removes score and excuse
        book[student, slug] = replace(entry, excused=False, grade=float(grade) if grade else None)
