"""Grading processes where none can be forked (macOS warns of it, Windows has none): each is started afresh."""

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
    """Starts grading processes as `nursery.Nursery` does."""

    def start(self, settings: Settings) -> tuple[Connection, SpawnProcess]:
        """A new grading process, and what we say to it and hear from it."""
        context = multiprocessing.get_context("spawn")
        connection, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, settings), daemon=True)
        process.start()
        theirs.close()
        return connection, process

    def stop(self) -> None:
        """There is nothing beside the grading processes."""


def _work(connection: Connection, settings: Settings) -> None:
    """The grading process."""
    from autograder.classroom.grader import serve

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_follow_parent, daemon=True).start()
    serve(connection, settings)


def _follow_parent() -> None:
    """End with the parent, even in the middle of a submission: the worker ends with us."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        with OUR_FOLDERS:  # else one would stay that nobody else knows
            os._exit(1)
