"""Gradescope (gradescope-autograders.readthedocs.io/en/latest/specs, Output format): the results.json of a submission.

A file is of one submission, and gives it the score that it names, instead of the one of the autograder's run before;
who handed in nothing has no submission. Points for questions that are graded by
hand are of their own (manual_grading.md).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from platform_imports import ALL_POINTS, CH06, CLASS, Book, Entry, Student, roster

VARIANTS = {"no export": ALL_POINTS}


def named(student: Student) -> str:
    return student.mail


def write_export(folder: Path, variant: str, there: Book) -> list[Path]:
    (folder / "class.csv").write_text(roster(), encoding="utf-8")
    return [folder / "class.csv"]


def options(folder: Path) -> list[str]:
    return []


def imported(reports: Path, there: Book, variant: str) -> Book:
    book = dict(there)
    for file in sorted((reports / "gradescope").glob("*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        student = next(one for one in CLASS if one.name.lower().replace(" ", "-") in file.name)
        entry = book.get((student.login, CH06), Entry())
        book[student.login, CH06] = replace(entry, grade=data["score"])
    return book
