"""A grading process beside a Dask worker: one lesson's checks and its warm workers, kept from task to task.

A process of its own, because checks use process-wide state and a Dask worker runs several tasks at a time; a
subprocess, because Dask's worker processes are daemons, which may have no children by `multiprocessing`. Standard
input is a socket to the Dask worker, which sends its `Settings` first.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from multiprocessing.connection import Connection

from autograder.classroom.grader import serve

IDLE_SECONDS = 300.0
"""After so long without work it ends: the command that sent the tasks was killed and could not say goodbye."""


def main() -> None:
    """Serve the Dask worker at the other end of standard input until it says goodbye."""
    connection = Connection(os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_end_with_the_other, args=(connection.fileno(),), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        serve(connection, connection.recv(), idle_seconds=IDLE_SECONDS)


def _end_with_the_other(descriptor: int) -> None:
    """End when the Dask worker is gone, even in the middle of a submission: what confines it ends with us."""
    hangup = select.poll()
    hangup.register(descriptor, 0)  # no event but a hang-up, which is always reported
    hangup.poll()
    os._exit(1)


if __name__ == "__main__":
    main()
