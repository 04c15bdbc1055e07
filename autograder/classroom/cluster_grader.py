"""A grading process beside a Dask worker: one lesson's checks and its warm workers, kept from task to task.

A process of its own, because checks use process-wide state and a Dask worker runs several tasks at a time; a
subprocess, because Dask's worker processes are daemons, which may have no children by `multiprocessing`. Standard
input is a socket to the Dask worker, which sends its `Settings` first.
"""

from __future__ import annotations

import os

from autograder.classroom.grader import serve_stream

IDLE_SECONDS = 300.0
"""After so long without work it ends: the command that sent the tasks was killed and could not say goodbye."""


def main() -> None:
    """Serve the Dask worker at the other end of standard input until it says goodbye, and end when it is gone."""
    stream = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    serve_stream(stream, stream, idle_seconds=IDLE_SECONDS)


if __name__ == "__main__":
    main()
