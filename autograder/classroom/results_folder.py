"""A folder of results: one file for each student and lesson, and a summary of the class.

    OUT/students/<student>/<lesson>.json    the results, in a subfolder so that no student's name collides with ours
    OUT/class.json, .hand-ins.json, .lock   the summary, the record of who handed in what, the lock
    OUT/rules.toml, overrides.toml          the teacher's own files (`autograder.gradebook`)
    OUT/__reports__, .earlier, .regrade, .rosters, .unfinished    folders of other modules

Older graders wrote OUT/<student>/<lesson>.json; `move_to_students` moves such results.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from autograder.judging.records.results import SubmissionResult, whole_file, write_json
from autograder.wording import printable_json
from course.syllabus import syllabus

STUDENTS = "students"
"""The only folder whose entries are named after students."""
SUMMARY = "class.json"
"""File name of the summary."""
RECORD = ".hand-ins.json"
"""File name of the record of the class, which identifies a folder of results."""
HIDDEN = (".", "__")
"""Prefixes of names that systems, programs and reports use; no student's name has one."""
LOCK = ".lock"
"""Never deleted: the lock is on the file, not on its name, and another process may already hold it."""
UNFINISHED = ".unfinished"
"""Folder of files being written; no student's name begins with a dot."""

TEXTS = (
    "student",
    "lesson",
    "file",
    "sha256",
    "grader_version",
    "isolation",
    "status",
    "message",
    "salt_sha256",
    "course",
)
SUMMARISED = ("student", "lesson", "points", "max_points", "status", "message")


class FolderBusy(RuntimeError):
    """Another process is writing results into this folder."""


def result_file(folder: Path, student: str, lesson: str) -> Path:
    """The path of one submission's result."""
    return folder / STUDENTS / student / f"{lesson}.json"


def read_result(file: Path) -> SubmissionResult | None:
    """The result in `file`; None if it is missing or unreadable."""
    try:
        result = SubmissionResult.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return result if _sound(result) else None


def _sound(result: SubmissionResult) -> bool:
    """Whether every field has a value of its type: a damaged file may still be valid JSON."""
    numbers = [result.points, result.max_points]
    texts = [getattr(result, name) for name in TEXTS]
    for exercise in result.exercises:
        numbers += [exercise.points, exercise.max_points, exercise.seconds]
        texts += [exercise.name, exercise.status, exercise.message, exercise.hint, exercise.misconception or ""]
        texts.append(exercise.grader_version)
        texts += exercise.misconceptions
        texts += [text for check in exercise.checks for text in (check.name, check.message, check.promise)]
        if not all(isinstance(check.passed, bool) and isinstance(check.visible, bool) for check in exercise.checks):
            return False
    return all(isinstance(text, str) for text in texts) and all(map(_is_number, numbers))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def results_of(folder: Path, places: Iterable[tuple[str, str]]) -> Iterator[SubmissionResult]:
    """Yield the existing results of these students and lessons; a class of thousands need not fit into memory."""
    for student, lesson in places:
        result = read_result(result_file(folder, student, lesson))
        if result is not None:
            yield result


def places(folder: Path) -> Iterator[tuple[str, str]]:
    """The students and lessons that have results, readable or not."""
    students = folder / STUDENTS
    for student in _names(students):
        if not student.startswith(HIDDEN):
            for name in _names(students / student):
                if name.endswith(".json") and not name.startswith("."):
                    yield student, name.removesuffix(".json")


def _names(folder: Path) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except OSError:  # no such folder
        return []


def move_to_students(folder: Path) -> int:
    """Move results from an older grader's layout to `STUDENTS`; return how many students had any.

    A folder counts as a student's if a result in it says so, or a file in it has a lesson's name. Files are moved one
    by one, so that the next run can finish an interrupted one.

    Raises:
        FolderBusy: another process is writing results there.
        OSError: the results cannot be moved.
    """
    if not any((folder / name).is_file() for name in (RECORD, SUMMARY)):
        return 0  # not a folder of results
    names = sorted(_names(folder), key=lambda name: (name != STUDENTS, name))  # a student called `students` comes first
    found = {name: files for name in names if (files := _results_beside_ours(folder, name))}
    if not found:
        return 0
    with hold(folder):
        return sum([_move(folder, name, files) for name, files in found.items()])


def _results_beside_ours(folder: Path, student: str) -> list[Path]:
    """The results of a student in the older layout."""
    if student.startswith(HIDDEN):
        return []
    names = sorted(name for name in _names(folder / student) if name.endswith(".json") and not name.startswith("."))
    files = [file for file in (folder / student / name for name in names) if file.is_file()]
    said = (result for result in map(read_result, files) if result is not None)
    known = any(file.stem in syllabus() for file in files) or any(result.student == student for result in said)
    return files if known else []


def _move(folder: Path, student: str, files: list[Path]) -> bool:
    """Move a student's results, except those that a newer grader has written again; return whether any were moved."""
    target = folder / STUDENTS / student
    target.mkdir(parents=True, exist_ok=True)
    there = set(_names(target))
    for file in files:
        if file.name not in there:
            os.replace(file, target / file.name)
    with suppress(OSError):  # the teacher's own files may be left
        files[0].parent.rmdir()
    return any(file.name not in there for file in files)


def write_result(folder: Path, result: SubmissionResult) -> None:
    """Write a result to its path. Raises `OSError` on failure."""
    write_json(result_file(folder, result.student, result.lesson), result.to_json(), scratch=folder / UNFINISHED)


def write_summary(
    folder: Path, results: Iterable[SubmissionResult], uncounted: Iterable[SubmissionResult]
) -> Iterator[SubmissionResult]:
    """Write the class summary and yield the results on the way.

    `uncounted`: rows for hand-ins without a counting result, listed separately.
    """
    with whole_file(folder / SUMMARY, scratch=folder / UNFINISHED) as file:
        for start, listed in (('{\n "submissions": [', results), ('\n ],\n "uncounted": [', uncounted)):
            file.write(start)
            for number, result in enumerate(listed):
                row = {name: getattr(result, name) for name in SUMMARISED}
                file.write(("," if number else "") + "\n  " + printable_json(row))
                yield result
        file.write("\n ]\n}\n")


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Lock `folder` for writing results. The lock ends with the process, however that ends.

    Raises:
        FolderBusy: another process holds the lock.
        OSError: the folder cannot be used.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise FolderBusy(
            f"another 'backprop grade' writes to {folder} now; wait for it, or give another --out"
        ) from None
    try:
        with unfinished(folder):
            yield
    finally:
        lock.release()


@contextmanager
def unfinished(folder: Path) -> Iterator[None]:
    """Provide an empty folder for files being written, and remove it afterwards."""
    scratch = folder / UNFINISHED
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
