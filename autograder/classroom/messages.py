"""What a grading process and its parent say to each other.

The parent sends `Work`, one piece after the other, and None to say goodbye; it hears `Ready` or `Failed` once, then a
`SubmissionResult` for each piece. Both are ours and on one machine; submitted code runs in the workers below.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from multiprocessing.connection import Connection

from autograder.classroom.class_folder import Work
from autograder.judging.records.results import SubmissionResult

ATTEMPTS = 2
"""How often a submission is tried whose grading process dies at it."""
STILLBORN = 3
"""Grading processes that may die in a row before they can serve; then something is wrong with all."""


@dataclass(frozen=True)
class Settings:
    """What a grading process is started with."""

    lesson: str
    isolation: str
    salt: str
    run: str = ""
    """A name for `remove_folders`, should it be killed."""
    processor: int | None = None
    """The processor that its submissions keep to, whatever they start there; None for any."""


@dataclass(frozen=True)
class Ready:
    """The checks are collected and the workers are warm."""


@dataclass(frozen=True)
class Failed:
    """This machine cannot grade the lesson at all."""

    why: str


Said = Ready | Failed | SubmissionResult
"""What a grading process says."""


def tell(connection: Connection, message: Settings | Work | None) -> None:
    """Send to a grading process; one that has died is noticed when it is listened to."""
    with contextlib.suppress(OSError):
        connection.send(message)


def hear(connection: Connection) -> Said | None:
    """What a grading process says; None if it died."""
    try:
        said: Said = connection.recv()
    except (EOFError, OSError):
        return None
    return said
