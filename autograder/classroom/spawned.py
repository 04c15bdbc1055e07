"""Spawns grading processes where they cannot be forked safely (macOS) or at all (Windows)."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from autograder.classroom.messages import Settings
from autograder.isolation import OUR_FOLDERS


class Spawned:
    """Starts grading processes with the interface of `nursery.Nursery`."""

    def start(self, settings: Settings) -> tuple[Connection, SpawnProcess]:
        """Start a grading process; returns the connection to it and its handle."""
        context = multiprocessing.get_context("spawn")
        connection, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, settings), daemon=True)
        process.start()
        theirs.close()
        return connection, process

    def stop(self) -> None:
        """Do nothing: there are no processes other than those that grade."""


def _work(connection: Connection, settings: Settings) -> None:
    """The main function of a grading process."""
    from autograder.classroom.grader import serve

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=_follow_parent, daemon=True).start()
    serve(connection, settings)


def _follow_parent() -> None:
    """End with the parent, even in the middle of a submission; the worker ends with this process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        with OUR_FOLDERS:  # or a folder unknown to all others might be left behind
            os._exit(1)
