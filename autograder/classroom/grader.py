"""A grading process with one lesson's checks and warm workers."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from multiprocessing.connection import Connection

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import grade_work
from autograder.classroom.messages import Failed, Ready, Settings
from autograder.collection import with_judge
from autograder.isolation import OUR_FOLDERS, IsolationError, Workers
from autograder.judging.records.errors import CheckError
from autograder.judging.session import Judge
from course.syllabus import find_lesson


def serve(connection: Connection, settings: Settings, *, idle_seconds: float | None = None) -> None:
    """Run a grading process until the parent says goodbye or hangs up, or there is no work for `idle_seconds`."""

    def use(judge: Judge) -> None:
        workers = Workers(judge.lesson, settings.isolation, settings.run, settings.processor)
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


def serve_stream(stream: int, lifeline: int, *, idle_seconds: float | None = None) -> None:
    """Run a grading process for the process at the other end of `stream`, which sends its `Settings` first.

    It ends at once, with its worker, when the other end of `lifeline` is closed. Both are file descriptors.
    """
    threading.Thread(target=_exit_with, args=(lifeline,), daemon=True).start()
    connection = Connection(stream)
    with contextlib.suppress(EOFError, OSError):
        serve(connection, connection.recv(), idle_seconds=idle_seconds)


def _exit_with(lifeline: int) -> None:
    """Exit when the lifeline hangs up, even in the middle of a submission."""
    hangup = select.poll()
    hangup.register(lifeline, 0)  # no events but a hang-up, which is always reported
    hangup.poll()
    with OUR_FOLDERS:  # or a folder unknown to all others might be left behind
        os._exit(1)
