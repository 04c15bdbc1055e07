"""Messages between a grading process and its parent.

The parent sends `Work` objects and finally None; it receives `Ready` or `Failed` once, then a `SubmissionResult` for
each `Work`. Both processes are trusted and on one machine; submitted code runs in workers.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from multiprocessing.connection import Connection

from autograder.classroom.class_folder import Work
from autograder.judging.records.results import SubmissionResult

ATTEMPTS = 2
"""Attempts at a submission if grading processes die on it."""
STILLBORN = 3
"""Grading processes that may die in a row before they are ready; then the whole run fails."""


@dataclass(frozen=True)
class Settings:
    """The settings of a grading process."""

    lesson: str
    isolation: str
    salt: str
    run: str = ""
    """Prefix of its folders, for `remove_folders` if it is killed."""
    processor: int | None = None
    """The processor that submissions and their children are pinned to; None for any."""


@dataclass(frozen=True)
class Ready:
    """The checks are collected and the workers are warm."""


@dataclass(frozen=True)
class Failed:
    """This machine cannot grade the lesson at all."""

    why: str


Said = Ready | Failed | SubmissionResult
"""Messages from a grading process."""


def tell(connection: Connection, message: Settings | Work | None) -> None:
    """Send to a grading process. If it has died, only the next `hear` reports that."""
    with contextlib.suppress(OSError):
        connection.send(message)


def hear(connection: Connection) -> Said | None:
    """The next message of a grading process; None if it died."""
    try:
        said: Said = connection.recv()
    except (EOFError, OSError):
        return None
    return said
