"""What grading one submission found, as data and as JSON."""

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


@dataclass
class CheckResult:
    """One check on one kind of input."""

    name: str
    visible: bool
    promise: str
    passed: bool
    message: str


@dataclass
class ExerciseResult:
    """All checks of one exercise."""

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
    """All that explain the answer equally well; `misconception` is set when it is one."""
    code: str = ""
    """The call that is shown, with every digit, for whoever sits before it: no part of what is kept."""
    grader_version: str = ""
    """A hash of all that decides the points of this exercise: where it is another one, this is graded again."""


@dataclass
class SubmissionResult:
    """One student's work on one lesson."""

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
    """A fingerprint of the class salt: another salt asks for another grading."""
    visible_only: bool = False
    """Whether only visible cases were checked: this copy of the course has no solutions."""
    course: str = ""
    """What the course calls itself whose lesson it is; empty in results of older versions."""

    def to_json(self) -> dict[str, Any]:
        """The result as plain data; docs/grading.md documents the keys."""
        exercises = [
            {
                **{key: value for key, value in vars(one).items() if key != "code"},
                "checks": [dict(vars(check)) for check in one.checks],
                "misconceptions": [*one.misconceptions],
            }
            for one in self.exercises
        ]
        return {**vars(self), "exercises": exercises}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SubmissionResult:
        """The result that `to_json` wrote. `KeyError` or `TypeError` for anything else."""
        exercises = [
            ExerciseResult(**{**entry, "checks": [CheckResult(**check) for check in entry["checks"]]})
            for entry in data["exercises"]
        ]
        return cls(**{**data, "exercises": exercises})


@contextmanager
def whole_file(path: Path, scratch: Path | None = None) -> Iterator[TextIO]:
    """A file to write that is at `path` once the block ends, whole, and never if it fails.

    A reader, or a run that is killed, never meets half of one. After a power cut the last few may be missing, as
    folders are not synchronised; none is damaged, as their content is.

    Args:
        scratch: where it lies until then, on the same file system; beside `path` if not given. Who is killed leaves
            it there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=scratch or path.parent)
    try:
        # "backslashreplace": some names are no UTF-8
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, data: Any, scratch: Path | None = None) -> None:
    """Write a JSON file whole or not at all; the arguments are those of `whole_file`."""
    with whole_file(path, scratch) as file:
        file.write(printable_json(data, indent=1) + "\n")  # at once: `dump` writes it word by word
