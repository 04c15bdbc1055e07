"""A class folder, `DIR/<student>/<lesson>.ipynb` or `.py`: what is in it and what is not a submission."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from course.syllabus import syllabus

SUFFIXES = (".ipynb", ".py")
SUMMARY = "class.json"
"""The summary's name in the folder of results, whose other entries are named after students."""


@dataclass(frozen=True, order=True)
class Work:
    """One file to grade."""

    lesson: str
    student: str
    file: Path


def find_work(folder: Path, results: Path | None = None) -> tuple[list[Work], list[str]]:
    """The submissions in `folder`, by lesson and student, and a line for each thing that is none.

    `results` is passed over in silence: it may lie in the class folder.

    Raises:
        OSError: the folder cannot be read.
    """
    work: dict[tuple[str, str], Work] = {}
    remarks = []
    for student in sorted(folder.iterdir()):
        if student.name.startswith((".", "__")) or (results is not None and student.resolve() == results.resolve()):
            continue
        if not student.is_dir():
            remarks.append(f"{student}: not a student's folder; passed over")
            continue
        if student.is_symlink():
            remarks.append(f"{student}: a link, not a folder; passed over")
            continue
        if student.name == SUMMARY:
            remarks.append(f"{student}: the results have a file of that name; rename the folder")
            continue
        try:
            files = sorted(student.iterdir())
        except OSError as error:
            remarks.append(f"{student}: cannot be read ({error.strerror}); passed over")
            continue
        handed_in = len(work)
        for file in files:
            if file.name.startswith((".", "__")):
                continue
            if file.suffix not in SUFFIXES or file.stem not in syllabus():
                remarks.append(f"{file}: no lesson of that name; passed over{_guess(file)}")
            elif (file.stem, student.name) in work:
                remarks.append(f"{file}: {work[file.stem, student.name].file.name} is graded; remove one of the two")
            else:
                work[file.stem, student.name] = Work(file.stem, student.name, file)
        if len(work) == handed_in:
            remarks.append(f"{student}: nothing that can be graded, so no result")
    return sorted(work.values()), remarks


def _guess(file: Path) -> str:
    """What a file whose name is nearly a lesson's was meant to be."""
    close = difflib.get_close_matches(file.stem.lower(), list(syllabus()), n=1, cutoff=0.8)
    return f". Is it {close[0]}{file.suffix.lower()}? Rename it" if close else ""
