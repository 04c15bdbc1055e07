"""The result of grading one submission, as data and as JSON."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from autograder.judging.records.status import ExerciseStatus, SubmissionStatus
from autograder.wording import printable_json

NOT_STORED = ("code", "case", "next_part")
"""What of an exercise's result is only for the learner at the keyboard."""


@dataclass
class CheckResult:
    """The outcome of one check on visible or on hidden inputs."""

    name: str
    visible: bool
    promise: str
    passed: bool
    message: str


@dataclass
class ExerciseResult:
    """The outcome of all checks of one exercise."""

    name: str
    points: float
    max_points: float
    status: ExerciseStatus
    message: str
    misconception: str | None
    hint: str
    seconds: float
    checks: list[CheckResult] = field(default_factory=list)
    misconceptions: list[str] = field(default_factory=list)
    """All known mistakes that the message names; `misconception` is set if there is only one."""
    code: str = ""
    """Code of the shown call with every digit, for the learner at the keyboard; not stored."""
    case: str = ""
    """The shown call and what was compared, as JSON, for a page that makes it again; not stored."""
    next_part: str = ""
    """The first part that is not written, if all that is written is right, for a page that goes there; not stored."""
    grader_version: str = ""
    """Hash of everything that affects this exercise's points; a result with another hash is graded again."""


@dataclass
class SubmissionResult:
    """The result of one student's work on one lesson."""

    student: str
    lesson: str
    file: str
    sha256: str
    grader_version: str
    isolation: str
    points: float
    max_points: float
    status: SubmissionStatus
    message: str
    exercises: list[ExerciseResult] = field(default_factory=list)
    salt_sha256: str = ""
    """Hash of the key made from the class's salt; a result with another hash is graded again."""
    visible_only: bool = False
    """Whether only visible inputs were checked, because this copy of the course has no solutions."""
    course: str = ""
    """Title of the course that the lesson belongs to; empty in results of older versions."""

    def to_json(self) -> dict[str, Any]:
        """The result as plain data; docs/grading.md documents the keys."""
        exercises = [
            {
                **{key: value for key, value in vars(one).items() if key not in NOT_STORED},
                "checks": [dict(vars(check)) for check in one.checks],
                "misconceptions": [*one.misconceptions],
            }
            for one in self.exercises
        ]
        return {**vars(self), "exercises": exercises}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SubmissionResult:
        """The result that `to_json` wrote. Raises `KeyError` or `TypeError` for other data."""
        exercises = [
            ExerciseResult(**{**entry, "checks": [CheckResult(**check) for check in entry["checks"]]})
            for entry in data["exercises"]
        ]
        return cls(**{**data, "exercises": exercises})


@contextmanager
def whole_file(path: Path, scratch: Path | None = None) -> Iterator[TextIO]:
    """Open a file that appears at `path` when the block ends, and not at all if the block fails.

    Readers never see part of a file, even if this process is killed. After a power cut the last few files may be
    missing, because folders are not synced, but none is damaged, because file contents are.

    Args:
        scratch: folder for the file until then, on the same file system; by default, that of `path`. If the process is
            killed, the file stays there.
    """
    # some names are not valid UTF-8
    with _whole(path, scratch, mode="w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        yield file


def write_whole(path: Path, data: bytes) -> None:
    """Write a file of bytes as `whole_file` does."""
    with _whole(path, mode="wb") as file:
        file.write(data)


@contextmanager
def _whole(path: Path, scratch: Path | None = None, **opened: Any) -> Iterator[Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=scratch or path.parent)
    try:
        with os.fdopen(handle, **opened) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, data: Any, scratch: Path | None = None) -> None:
    """Write a JSON file atomically; the arguments are those of `whole_file`."""
    with whole_file(path, scratch) as file:
        file.write(printable_json(data, indent=1) + "\n")  # in one write: `json.dump` makes many
