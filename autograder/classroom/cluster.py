"""Grades a class on a Dask cluster: submissions go out as bytes, results come back as JSON.

Needs the extra `cluster`. A worker's answer is accepted only if it is for the submission that was sent and from the
same version of the grader as here. book/teach_scale.md describes how to run a cluster.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import queue
import re
import time
import uuid
import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import ungraded
from autograder.classroom.pool import PoolError
from autograder.judging.records.results import SubmissionResult
from autograder.judging.version import grader_version
from autograder.submission import SubmissionError, read_bytes
from course.own import OURS, own_course

if TYPE_CHECKING:
    from distributed import Client, Future, Security

    from autograder.classroom.cluster_worker import Task

AHEAD, DRAWN = 256, 8
"""Submissions drawn before the first is sent, and how many more are drawn each time one is sent."""
CONNECT_SECONDS = 10.0
ADDRESS = re.compile(r"(tcp|tls)://(\[[^][]+\]|[^][:/]+):[0-9]+")
WORKER_TIMEOUT = 60.0
"""Seconds without any worker after which the run ends with an error."""
LOOK_SECONDS = 2.0
"""Interval at which the client asks for the number of workers."""
FLYING_BYTES = 128 * 2**20
"""Most bytes of submissions on the cluster at a time."""
GIVEN_UP = 3
"""Retries after Dask's `KilledWorker`. Dask also blames a task for a worker that another task killed."""


class ClusterError(PoolError):
    """The cluster cannot be used, or was lost; the message says why and what to do."""


def grade_on_cluster(
    work: Iterable[Work], *, scheduler: str, isolation: str, salt: str, timeout: float = WORKER_TIMEOUT
) -> Generator[SubmissionResult, None, None]:
    """Yield the results of `work` as they arrive.

    Files are read when they are sent, so that few are in memory at a time. Closing the iterator cancels ungraded tasks
    on the cluster and ends the workers' grading processes for this class.

    Args:
        scheduler: address of Dask's scheduler, as `tcp://host:8786` or `tls://host:8786`.
        timeout: seconds without any worker after which the run ends with an error.

    Raises:
        ClusterError: no scheduler at that address, no workers, workers with another grader, or without Landlock.
    """
    waiting = _Waiting(work)
    waiting.draw(AHEAD)
    if waiting.done():
        return
    with _connected(scheduler) as client:
        run = _Run(client, scheduler, isolation, salt, timeout)
        try:
            yield from run.results(waiting)
        finally:
            run.end()


class _Waiting:
    """The work not sent yet, drawn from its source in small portions.

    Work is sent lesson by lesson, as far as it is known: a worker has to load other checks for another lesson.
    """

    def __init__(self, source: Iterable[Work]) -> None:
        self._source = iter(source)
        self._by_lesson: dict[str, deque[Work]] = {}
        self._lesson = ""
        self._complete = False

    def draw(self, count: int) -> None:
        """Take up to `count` more from the source."""
        drawn = list(islice(self._source, count))
        self._complete = len(drawn) < count
        for item in drawn:
            self._by_lesson.setdefault(item.lesson, deque()).append(item)

    def next(self) -> Work | None:
        """The next work of the current lesson, or else of the lesson with most; None if nothing is left."""
        if not self._complete:
            self.draw(DRAWN)
        if not self._by_lesson.get(self._lesson):
            self._by_lesson.pop(self._lesson, None)
            self._lesson = max(self._by_lesson, key=lambda lesson: len(self._by_lesson[lesson]), default="")
        return self._by_lesson[self._lesson].popleft() if self._lesson else None

    def done(self) -> bool:
        """Whether all work has been sent."""
        return self._complete and not any(self._by_lesson.values())


class _Run:
    """One class being graded on the cluster."""

    def __init__(self, client: Client, scheduler: str, isolation: str, salt: str, timeout: float) -> None:
        self._client = client
        self._scheduler = scheduler
        self._isolation = isolation
        self._salt = salt
        self._course = str(own_course() or OURS)
        self._timeout = timeout
        self._id = uuid.uuid4().hex[:12]
        self._tasks = 0
        self._in_flight: dict[Future, tuple[Work, Task]] = {}
        self._bytes = 0
        self._finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._given_up: dict[Work, int] = {}
        self._threads = 1
        self._looked = self._last_seen = time.monotonic()
        self._confined_by: dict[str, str] = {}
        """Sandbox of the workers by lesson, for all lessons that they were asked about."""
        self._failed: dict[str, str] = {}
        """By lesson that cannot be graded: why."""

    def results(self, waiting: _Waiting) -> Iterator[SubmissionResult]:
        """Send work and yield results as they arrive."""
        while self._in_flight or not waiting.done():
            while self._has_room() and (work := waiting.next()) is not None:
                result = self._send(work)
                if result is not None:
                    yield result
            landed = self._next_finished() if self._in_flight else None
            if landed is not None:
                result = self._result(landed)
                if result is not None:
                    yield result
        if self._failed:
            raise ClusterError("; ".join(dict.fromkeys(self._failed.values())))

    def _check_workers(self, lesson: str) -> None:
        """Wait for a worker, and require all workers to grade this lesson as this machine would."""
        from autograder.classroom.cluster_worker import describe

        with self._scheduler_answers():
            while not self._count_threads():
                time.sleep(0.2)
            said = self._client.run(describe, lesson, self._isolation, self._course, on_error="return")
        for worker, description in sorted(said.items()):
            if isinstance(description, BaseException):
                raise ClusterError(_cannot_grade(worker, description))
            if description["cannot"]:
                raise ClusterError(f"the worker {worker} cannot grade: {description['cannot']}")
            self._check_version(worker, lesson, description["version"])
            self._confined_by[lesson] = description["isolation"]

    def end(self) -> None:
        """Cancel ungraded tasks and end the workers' grading processes."""
        from autograder.classroom.cluster_worker import end_run

        if self._client.status == "running":
            with contextlib.suppress(Exception):
                self._client.cancel(list(self._in_flight))
                self._client.run(end_run, self._id, on_error="ignore")

    def _has_room(self) -> bool:
        return len(self._in_flight) < 2 * self._threads + 2 and self._bytes < FLYING_BYTES

    def _send(self, work: Work) -> SubmissionResult | None:
        """Send a submission; if its file cannot be read, return that result instead."""
        from autograder.classroom.cluster_worker import Task

        if work.lesson in self._failed:
            return None
        if work.lesson not in self._confined_by:
            self._check_workers(work.lesson)
        try:
            data = read_bytes(work.file, work.file.parent)
        except SubmissionError as error:
            return ungraded(
                work, "unreadable", f"{work.file.name}: {error}.", self._confined_by[work.lesson], self._salt
            )
        task = Task(
            self._id, work.student, work.lesson, work.file.name, data, self._isolation, self._salt, self._course
        )
        self._submit(work, replace(task, before=work.before))
        return None

    def _submit(self, work: Work, task: Task) -> None:
        from autograder.classroom.cluster_worker import grade_task

        self._tasks += 1
        key = f"grade-{work.lesson}-{self._id}-{self._tasks}"
        with self._scheduler_answers():
            future = self._client.submit(grade_task, task, key=key, pure=False)
        self._in_flight[future] = (work, task)
        self._bytes += len(task.data)
        future.add_done_callback(self._finished.put)

    def _next_finished(self) -> Future | None:
        """The next finished task; None if there is none yet. Also checks from time to time that workers are left."""
        with contextlib.suppress(queue.Empty):
            future = self._finished.get(timeout=LOOK_SECONDS)
            if time.monotonic() < self._looked + LOOK_SECONDS:
                return future
            self._look()
            return future
        self._look()
        return None

    def _look(self) -> None:
        with self._scheduler_answers():
            self._count_threads()

    def _count_threads(self) -> int:
        """Number of submissions graded at a time. Raises `ClusterError` after too long without workers."""
        now = time.monotonic()
        threads = sum(self._client.nthreads().values())
        if threads:
            self._threads, self._last_seen = threads, now
        elif now > self._last_seen + self._timeout:
            raise ClusterError(
                f"{self._scheduler} has had no workers for {self._timeout:.0f} seconds; start some, "
                "and run the same command again: it goes on from here"
            )
        self._looked = now
        return threads

    def _result(self, future: Future) -> SubmissionResult | None:
        """The result of a task; None if it is sent again or its lesson failed."""
        from distributed import KilledWorker

        work, task = self._in_flight[future]
        try:
            with self._scheduler_answers():
                if future.status == "cancelled":  # by another client, or because the scheduler is gone
                    raise ConnectionError
                error = future.exception()
                if isinstance(error, KilledWorker):
                    return self._send_again(work, task, future)
                if error is not None:
                    raise ClusterError(_cannot_grade("", error))
                answer = future.result()
        finally:
            del self._in_flight[future]
            self._bytes -= len(task.data)
        return self._checked_result(answer, work, task)

    def _send_again(self, work: Work, task: Task, future: Future) -> SubmissionResult | None:
        """Retry after `KilledWorker`. The task takes along its count of attempts, which the worker limits."""
        self._given_up[work] = self._given_up.get(work, 0) + 1
        if self._given_up[work] >= GIVEN_UP:
            return ungraded(work, "killed", "its workers were lost, again and again.", self._isolation, self._salt)
        self._submit(work, replace(task, lost=self._client.get_metadata([future.key], task.lost)))
        return None

    def _checked_result(self, answer: str, work: Work, task: Task) -> SubmissionResult | None:
        """The result in a worker's answer, after checking that it is for this submission and by this grader."""
        try:
            said = json.loads(answer)
            worker = str(said["worker"])
            if "failed" in said:
                self._failed[work.lesson] = f"the worker {worker} cannot grade: {said['failed']}"
                return None
            result = SubmissionResult.from_json(said["result"])
        except (KeyError, TypeError, ValueError) as error:
            raise ClusterError(
                f"a worker gave an answer that is none ({error}); install the same version there"
            ) from None
        self._check_version(worker, work.lesson, result.grader_version)
        asked = (work.student, work.lesson, work.file.name, hashlib.sha256(task.data).hexdigest())
        if (result.student, result.lesson, result.file, result.sha256) != asked:
            raise ClusterError(f"the worker {worker} answered for another submission; start it again")
        return result

    def _check_version(self, worker: str, lesson: str, theirs: str) -> None:
        ours = grader_version(lesson)
        if theirs != ours:
            raise ClusterError(
                f"the worker {worker} has the grader {theirs} for {lesson}, and this machine has {ours}; "
                "install the same backprop-course on both and start the worker again"
            )

    @contextlib.contextmanager
    def _scheduler_answers(self) -> Iterator[None]:
        """Turn a lost scheduler into a one-line `ClusterError`."""
        try:
            yield
        except ClusterError:
            raise
        except Exception as error:
            if isinstance(error, OSError) or self._client.status != "running":
                lost = f"the connection to {self._scheduler} is lost, or it dropped the tasks"
                raise ClusterError(f"{lost}; {_AGAIN}") from None
            raise


_SAME = "the scheduler and the workers need the same backprop-course[cluster] as this machine"
_AGAIN = "what is graded is kept, and the same command goes on from there"


@contextlib.contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    """Connect a Dask client that prints nothing."""
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise ClusterError('--scheduler needs Dask; pip install "backprop-course[cluster]"') from None
    with _quiet(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "64 MiB"}):
        security = _security(scheduler)
        try:
            with warnings.catch_warnings():  # only the grader's own version matters
                warnings.simplefilter("ignore")
                client = Client(scheduler, timeout=CONNECT_SECONDS, security=security, set_as_default=False)
        except Exception as error:
            raise ClusterError(f"there is no Dask scheduler at {scheduler} ({_line(error)})") from None
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=CONNECT_SECONDS)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's logging; failures are reported in one line.

    asyncio's logger stays silent: tasks that Dask drops on Ctrl-C are reported when they are collected, after the end.
    """
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _security(scheduler: str) -> Security:
    """Dask's TLS settings for the address. Checked here, since a client with bad settings waits instead of failing."""
    from distributed import Security

    if not ADDRESS.fullmatch(scheduler):
        raise ClusterError(f"{scheduler!r} is no scheduler's address; it is tcp://HOST:PORT or tls://HOST:PORT")
    try:
        security = Security()
        certified = security.get_connection_args("client")["ssl_context"] is not None
    except (OSError, ValueError) as error:
        raise ClusterError(f"Dask's TLS settings cannot be used ({_line(error)})") from None
    if scheduler.startswith("tls:") and not certified:
        raise ClusterError(f"{scheduler} needs certificates, and Dask's settings name none (distributed.comm.tls)")
    return security


def _cannot_grade(worker: str, error: BaseException) -> str:
    who = f"the worker {worker}" if worker else "the cluster"
    return f"{who} cannot grade ({_line(error)}); {_SAME}"


def _line(error: BaseException) -> str:
    """An exception in one line, with its root cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
