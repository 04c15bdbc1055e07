"""A class folder, `DIR/<student>/<lesson>.ipynb` or `.py`: what is in it and what is not a submission."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from course.syllabus import syllabus

SUFFIXES = (".ipynb", ".py")
SUMMARY = "class.json"
"""The summary's name in the folder of results, whose other entries are named after students."""


@dataclass(frozen=True, slots=True)
class Work:
    """One file to grade."""

    lesson: str
    student: str
    file: Path


def find_work(folder: Path, results: Path | None = None) -> tuple[list[Work], list[str]]:
    """The submissions in `folder`, by student and lesson, and a line for each thing that is none.

    Folders are listed and no file is looked at: a class of thousands is known in a moment.
    `results` is passed over in silence: it may lie in the class folder.

    Raises:
        OSError: the folder cannot be read.
    """
    with os.scandir(folder) as entries:
        students = sorted(entries, key=lambda entry: entry.name)
    own = results.resolve() if results is not None else None
    here = folder.resolve()
    work: list[Work] = []
    remarks: list[str] = []
    for student in students:
        path = folder / student.name
        if student.name.startswith((".", "__")) or here / student.name == own:
            continue
        problem = _not_a_student(student)
        if problem:
            remarks.append(f"{path}: {problem}")
            continue
        try:
            names = sorted(os.listdir(path))
        except OSError as error:
            remarks.append(f"{path}: cannot be read ({error.strerror}); passed over")
            continue
        found = _handed_in(path, names, remarks)
        work += found
        if not found:
            remarks.append(f"{path}: nothing that can be graded, so no result")
    return work, remarks


def _not_a_student(entry: os.DirEntry[str]) -> str:
    """Why an entry of the class folder is no student; empty if it is one."""
    if entry.is_symlink():  # first: whether a link to itself leads to a folder is an error
        return "a link, not a folder; passed over"
    if not entry.is_dir():
        return "not a student's folder; passed over"
    if entry.name == SUMMARY:
        return "the results have a file of that name; rename the folder"
    return ""


def _handed_in(student: Path, names: list[str], remarks: list[str]) -> list[Work]:
    """A student's work by lesson; what is none goes to `remarks`."""
    work: dict[str, Work] = {}
    for name in names:
        if name.startswith((".", "__")):
            continue
        file = student / name
        if file.suffix not in SUFFIXES or file.stem not in syllabus():
            remarks.append(f"{file}: no lesson of that name; passed over{_guess(file)}")
        elif file.stem in work:
            remarks.append(f"{file}: {work[file.stem].file.name} is graded; remove one of the two")
        else:
            work[file.stem] = Work(sys.intern(file.stem), student.name, file)
    return list(work.values())


def _guess(file: Path) -> str:
    """What a file whose name is nearly a lesson's was meant to be."""
    close = difflib.get_close_matches(file.stem.lower(), list(syllabus()), n=1, cutoff=0.8)
    return f". Is it {close[0]}{file.suffix.lower()}? Rename it" if close else ""
