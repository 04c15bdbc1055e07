"""Earlier attempts: what was handed in for a lesson before what counts.

Of those that lie in a class folder beside the last one the record has file and time; they are not graded. A result
whose hand-in was replaced since is kept, out of the way of the students' folders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.results_folder import UNFINISHED
from autograder.judging.records.results import SubmissionResult, write_json

EARLIER = ".earlier"
"""Where replaced results are kept, in the folder of results; no student's name."""


@dataclass(frozen=True, order=True)
class Attempt:
    """One attempt that does not count any more."""

    at: str
    """When it came, ISO 8601; empty if nobody says."""
    file: str
    points: float | None = None
    """What it had; None if it was not graded."""
    max_points: float = 0.0


@dataclass(frozen=True, order=True)
class EarlierFile:
    """An attempt that lies in a class folder beside the one that counts."""

    student: str
    lesson: str
    file: str
    at: str = ""


def keep_replaced(results: Path, old: SubmissionResult | None, new: SubmissionResult, at: str) -> None:
    """Keep a result that is about to be replaced by that of another file; `at`: when the old one came.

    Raises:
        OSError: it cannot be written.
    """
    if old is None or not old.sha256 or old.sha256 == new.sha256:
        return
    file = results / EARLIER / old.student / old.lesson / f"{old.sha256[:16]}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(file, {"at": at, "result": old.to_json()}, scratch=results / UNFINISHED)


def replaced(results: Path, student: str, lesson: str, *, sha256: str) -> Iterator[Attempt]:
    """The attempts whose results were replaced; `sha256`: of the one that counts, which may have been there before."""
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
