"""A grading process: one lesson's checks and its warm workers. What it and its parent say to each other.

The parent sends `Work`, one piece after the other, and None to say goodbye; it hears `Ready` or `Failed` once, then a
`SubmissionResult` for each piece. Both are ours and on one machine; submitted code runs in the workers below.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from multiprocessing.connection import Connection

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import grade_work
from autograder.isolation import IsolationError, Workers
from autograder.judging.results import SubmissionResult
from autograder.judging.session import CheckError, Judge, with_judge
from course.syllabus import find_lesson

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


@dataclass(frozen=True)
class Ready:
    """The checks are collected and the workers are warm."""


@dataclass(frozen=True)
class Failed:
    """This machine cannot grade the lesson at all."""

    why: str


Said = Ready | Failed | SubmissionResult
"""What a grading process says."""


def serve(connection: Connection, settings: Settings, *, idle_seconds: float | None = None) -> None:
    """Be a grading process until the parent says goodbye or hangs up, or has no work for so long."""

    def use(judge: Judge) -> None:
        workers = Workers(judge.lesson, settings.isolation, settings.run)
        try:
            workers.start()
            connection.send(Ready())
            while connection.poll(idle_seconds) and (work := connection.recv()) is not None:
                assert isinstance(work, Work)
                connection.send(grade_work(judge, workers, work))
        except (EOFError, OSError):  # the parent is gone
            pass
        finally:
            workers.stop()

    try:
        with_judge(find_lesson(settings.lesson), use, salt=settings.salt)
    except (IsolationError, CheckError) as error:
        with contextlib.suppress(OSError):
            connection.send(Failed(str(error)))


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
