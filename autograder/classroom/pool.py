"""The processes that grade a class: each holds one lesson's checks and its warm workers.

The parent hands out one submission at a time and takes back one result, so it always knows which submission a
process that died was at: that one is tried once more, and then reported as killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import grade_work, ungraded
from autograder.isolation import IsolationError, Workers
from autograder.judging.results import SubmissionResult
from autograder.judging.session import CheckError, Judge, with_judge
from course.syllabus import find_lesson

ATTEMPTS = 2


class PoolError(RuntimeError):
    """A grading process could not start; the message says why."""


def grade_all(work: list[Work], *, jobs: int, isolation: str, salt: str) -> Iterator[SubmissionResult]:
    """The results of `work`, in the order in which they become known.

    Args:
        jobs: grading processes that run at a time.

    Raises:
        PoolError: the backend or the checks cannot be used at all.
    """
    by_lesson: dict[str, deque[Work]] = {}
    for item in work:
        by_lesson.setdefault(item.lesson, deque()).append(item)
    for lesson, queue in by_lesson.items():
        yield from _grade_lesson(lesson, queue, min(jobs, len(queue)), isolation, salt)


def _grade_lesson(lesson: str, queue: deque[Work], jobs: int, isolation: str, salt: str) -> Iterator[SubmissionResult]:
    attempts: dict[Work, int] = {}
    graders = [_Grader(lesson, isolation, salt) for _ in range(jobs)]
    try:
        while queue or any(grader.at for grader in graders):
            for grader in graders:
                if grader.ready and queue:
                    grader.hand(queue.popleft())
            for connection in wait([grader.connection for grader in graders]):
                grader = next(grader for grader in graders if grader.connection is connection)
                try:
                    kind, value = grader.connection.recv()
                except (EOFError, OSError):
                    graders[graders.index(grader)] = _Grader(lesson, isolation, salt)
                    lost = grader.at
                    grader.stop()
                    if lost is None:
                        raise PoolError(f"the grading process for {lesson} ended before it began") from None
                    attempts[lost] = attempts.get(lost, 0) + 1
                    if attempts[lost] < ATTEMPTS:
                        queue.append(lost)
                    else:
                        yield ungraded(lost, "killed", "the grading process was killed, twice.", isolation, salt)
                    continue
                if kind == "failed":
                    raise PoolError(value)
                grader.ready = True
                if kind == "result":
                    grader.at = None
                    yield value
    except BaseException:
        for grader in graders:
            grader.process.kill()  # at once: its worker sees that it is gone and leaves nothing behind
        raise
    finally:
        for grader in graders:
            grader.stop()


class _Grader:
    """The parent's end of one grading process."""

    def __init__(self, lesson: str, isolation: str, salt: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, lesson, isolation, salt), daemon=True)
        self.process.start()
        theirs.close()
        self.ready = False
        self.at: Work | None = None

    def hand(self, work: Work) -> None:
        self.at, self.ready = work, False
        with contextlib.suppress(OSError):  # it died meanwhile: the next wait sees that
            self.connection.send(work)

    def stop(self) -> None:
        self.connection.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _work(connection: Connection, lesson: str, isolation: str, salt: str) -> None:
    """The grading process: results for work, until the parent hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_follow_parent, daemon=True).start()

    def use(judge: Judge) -> None:
        workers = Workers(judge.lesson, isolation)
        try:
            workers.start()
            connection.send(("ready", None))
            while True:
                connection.send(("result", grade_work(judge, workers, connection.recv())))
        except (EOFError, OSError):
            pass
        finally:
            workers.stop()

    try:
        with_judge(find_lesson(lesson), use, salt=salt)
    except (IsolationError, CheckError) as error:
        _tell(connection, ("failed", str(error)))


def _tell(connection: Connection, message: Any) -> None:
    with contextlib.suppress(OSError):
        connection.send(message)


def _follow_parent() -> None:
    """End with the parent, even in the middle of a submission: the worker ends with us."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
