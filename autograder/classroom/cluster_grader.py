"""A grading process of a Dask worker, with one lesson's checks and warm workers, kept from task to task.

It is a process because checks use process-wide state and a Dask worker runs several tasks at a time. It is a
`subprocess` because Dask's workers are daemons, which may not have `multiprocessing` children. Standard input is a
socket to the Dask worker, which sends its `Settings` first.
"""

from __future__ import annotations

import os

from autograder.classroom.grader import serve_stream

IDLE_SECONDS = 300.0
"""It ends after so long without work: the command that sent the tasks was probably killed."""


def main() -> None:
    """Serve the Dask worker on standard input until it says goodbye or ends."""
    stream = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    serve_stream(stream, stream, idle_seconds=IDLE_SECONDS)


if __name__ == "__main__":
    main()
