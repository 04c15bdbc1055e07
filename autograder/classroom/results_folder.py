"""A folder of results: one file for each student and lesson, and a summary of the class."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from autograder.classroom.class_folder import SUMMARY, Work
from autograder.judging.results import SubmissionResult, whole_file, write_json

LOCK = ".lock"
"""Stays there: what is locked is the file, not its name, and it may be someone else's by now."""
UNFINISHED = ".unfinished"
"""What is being written; no student's name begins with a dot."""

TEXTS = ("student", "lesson", "file", "sha256", "grader_version", "isolation", "status", "message", "salt_sha256")
SUMMARISED = ("student", "lesson", "points", "max_points", "status", "message")


class FolderBusy(RuntimeError):
    """Someone else writes results into this folder."""


def result_file(folder: Path, student: str, lesson: str) -> Path:
    """Where the result of one submission lies."""
    return folder / student / f"{lesson}.json"


def read_result(file: Path) -> SubmissionResult | None:
    """The result in `file`; None if there is none, or none that can be read."""
    try:
        result = SubmissionResult.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return result if _sound(result) else None


def _sound(result: SubmissionResult) -> bool:
    """Whether every field has a value of its type: the file may have been damaged and be JSON all the same."""
    numbers = [result.points, result.max_points]
    texts = [getattr(result, name) for name in TEXTS]
    for exercise in result.exercises:
        numbers += [exercise.points, exercise.max_points, exercise.seconds]
        texts += [exercise.name, exercise.status, exercise.message, exercise.hint, exercise.misconception or ""]
        texts += exercise.misconceptions
        texts += [text for check in exercise.checks for text in (check.name, check.message, check.promise)]
        if not all(isinstance(check.passed, bool) and isinstance(check.visible, bool) for check in exercise.checks):
            return False
    return all(isinstance(text, str) for text in texts) and all(map(_is_number, numbers))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def results_of(folder: Path, work: Iterable[Work]) -> Iterator[SubmissionResult]:
    """The results that there are of `work`, one after the other: a class of thousands need not fit into memory."""
    for item in work:
        result = read_result(result_file(folder, item.student, item.lesson))
        if result is not None:
            yield result


def write_result(folder: Path, result: SubmissionResult) -> None:
    """Write a result to where it belongs. `OSError` if that cannot be."""
    write_json(result_file(folder, result.student, result.lesson), result.to_json(), scratch=folder / UNFINISHED)


def write_summary(folder: Path, results: Iterable[SubmissionResult]) -> Iterator[SubmissionResult]:
    """Write the class summary beside the results while these are gone through, and pass them on."""
    with whole_file(folder / SUMMARY, scratch=folder / UNFINISHED) as file:
        file.write('{\n "submissions": [')
        for number, result in enumerate(results):
            row = {name: getattr(result, name) for name in SUMMARISED}
            file.write(("," if number else "") + "\n  " + json.dumps(row, ensure_ascii=False))
            yield result
        file.write("\n ]\n}\n")


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Be the only one who writes results into `folder`; the hold ends with the process, however that ends.

    Raises:
        FolderBusy: someone else is.
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
    """A place in `folder` for files that are being written, without what a killed run left there."""
    scratch = folder / UNFINISHED
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            scratch.rmdir()
