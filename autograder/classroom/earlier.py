"""Earlier attempts at a lesson, superseded by a later one.

Attempts still in a class folder are listed in the record with file and time, and not graded. Replaced results are kept
in a folder of their own beside the students' folders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.results_folder import UNFINISHED
from autograder.judging.records.results import SubmissionResult, write_json

EARLIER = ".earlier"
"""Folder of replaced results in the folder of results; not a student's name."""


@dataclass(frozen=True, order=True)
class Attempt:
    """One superseded attempt."""

    at: str
    """When it arrived, ISO 8601; empty if unknown."""
    file: str
    points: float | None = None
    """None if it was not graded."""
    max_points: float = 0.0


@dataclass(frozen=True, order=True)
class EarlierFile:
    """A superseded attempt that is still in a class folder."""

    student: str
    lesson: str
    file: str
    at: str = ""


def keep_replaced(results: Path, old: SubmissionResult | None, new: SubmissionResult, at: str) -> None:
    """Keep the result `old`, which arrived `at`, if `new` is about to replace it and is of another file.

    Raises:
        OSError: it cannot be written.
    """
    if old is None or not old.sha256 or old.sha256 == new.sha256:
        return
    file = results / EARLIER / old.student / old.lesson / f"{old.sha256[:16]}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(file, {"at": at, "result": old.to_json()}, scratch=results / UNFINISHED)


def replaced(results: Path, student: str, lesson: str, *, sha256: str) -> Iterator[Attempt]:
    """The attempts whose results were replaced, without the one that counts, whose hash is `sha256`."""
    folder = results / EARLIER / student / lesson
    try:
        files = sorted(folder.glob("*.json"))
    except OSError:
        return
    for file in files:
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            old = SubmissionResult.from_json(data["result"])
            found = Attempt(str(data["at"]), str(old.file), float(old.points), float(old.max_points))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        if old.sha256 != sha256:
            yield found
