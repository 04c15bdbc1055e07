"""A grading process beside a Dask worker: one lesson's checks and its warm workers, kept from task to task.

A process of its own, because checks use process-wide state and a Dask worker runs several tasks at a time; a
subprocess, because Dask's worker processes are daemons, which may have no children by `multiprocessing`. Standard
input is a socket to the Dask worker. What goes over it is JSON: first the lesson, then one piece of work after the
other; an empty message says goodbye.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import grade_work
from autograder.isolation import IsolationError, Workers
from autograder.judging.session import CheckError, Judge, with_judge
from course.syllabus import find_lesson

IDLE_SECONDS = 300.0
"""After so long without work it ends: the command that sent the tasks was killed and could not say goodbye."""


def main() -> None:
    """Serve the Dask worker at the other end of standard input until it hangs up."""
    connection = Connection(os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_end_with_the_other, args=(connection.fileno(),), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        task = json.loads(connection.recv_bytes())
        try:
            with_judge(find_lesson(task["lesson"]), lambda judge: _serve(connection, judge, task), salt=task["salt"])
        except (IsolationError, CheckError) as error:
            _send(connection, {"failed": str(error)})


def _serve(connection: Connection, judge: Judge, task: dict[str, Any]) -> None:
    workers = Workers(judge.lesson, task["isolation"])
    try:
        workers.start()
        _send(connection, {"ready": True})
        while connection.poll(IDLE_SECONDS) and (message := connection.recv_bytes()):
            asked = json.loads(message)
            work = Work(judge.lesson.slug, asked["student"], Path(asked["file"]))
            _send(connection, {"result": grade_work(judge, workers, work).to_json()})
    finally:
        workers.stop()


def _send(connection: Connection, message: dict[str, Any]) -> None:
    connection.send_bytes(json.dumps(message).encode())


def _end_with_the_other(descriptor: int) -> None:
    """End when the Dask worker is gone, even in the middle of a submission: what confines it ends with us."""
    hangup = select.poll()
    hangup.register(descriptor, 0)  # no event but a hang-up, which is always reported
    hangup.poll()
    os._exit(1)


if __name__ == "__main__":
    main()
