"""Runs inside a Dask worker: grades the tasks of a class in processes that it keeps between tasks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from distributed import Reschedule, Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.utils import sync

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import ungraded
from autograder.classroom.messages import ATTEMPTS, STILLBORN, Failed, Ready, Said, Settings, hear, tell
from autograder.isolation import IsolationError, Workers
from autograder.judging.records.results import SubmissionResult
from autograder.judging.version import grader_version
from autograder.threads import ONE_THREAD
from course.own import OURS, VARIABLE, CourseError, course_named, serving
from course.syllabus import find_lesson

SPARE = 1
"""Grading processes kept in addition to one per thread, for alternating lessons."""

_state = threading.Lock()
"""Held while a worker's `Graders` are created, because several of its threads may start at once."""


@dataclass(frozen=True)
class Task:
    """One submission on its way to a worker, with everything needed to grade it."""

    run: str
    """Identifies the `backprop grade` run."""
    student: str
    lesson: str
    name: str
    """The file's name."""
    data: bytes
    isolation: str
    salt: str
    course: str = OURS
    """The course's name for `course_named`: the same path on all machines."""
    lost: int = 0
    """Attempts that ended because their worker was lost."""
    before: SubmissionResult | None = None
    """See `Work.before`."""


async def describe(lesson: str, isolation: str, course: str = OURS) -> dict[str, str]:
    """How this machine grades a lesson: the grader's `version`, its `isolation`, and in `cannot` why it cannot."""
    version, confined_by, cannot = "", isolation, ""
    try:
        with serving(course_named(course)):
            version = await asyncio.to_thread(grader_version, lesson)
            confined_by = await asyncio.to_thread(_confined_by, lesson, isolation)
    except (IsolationError, CourseError, KeyError) as error:  # the lesson may be missing in its copy of the course
        cannot = str(error.args[0])
    return {"version": version, "isolation": confined_by, "cannot": cannot}


def _confined_by(lesson: str, isolation: str) -> str:
    """The sandbox used here, as results record it. Starts a worker to find out."""
    workers = Workers(find_lesson(lesson), isolation)
    try:
        worker = workers.of(workers.lesson.environment)
        worker.ready()
        return worker.isolation
    finally:
        workers.stop()


def grade_task(task: Task) -> str:
    """Grade a submission in one of the worker's grading processes.

    Returns:
        JSON with the `worker`, and either the `result` or, if this machine cannot grade the lesson at all, why it
            `failed`.
    """
    worker = get_worker()
    with tempfile.TemporaryDirectory(prefix="submission-", dir=worker.local_directory) as folder:
        file = Path(folder, Path(task.name).name)
        file.write_bytes(task.data)
        with serving(course_named(task.course)):
            answer = _grade(worker, task, Work(task.lesson, task.student, file, before=task.before))
    said = {"failed": answer.why} if isinstance(answer, Failed) else {"result": answer.to_json()}
    return json.dumps({"worker": worker.address, **said})


def _grade(worker: Worker, task: Task, work: Work) -> SubmissionResult | Failed:
    """Grade in at most `ATTEMPTS` attempts. The scheduler counts them first, so that the count survives this worker."""
    graders, attempts = _graders(worker, task), _Attempts(worker, task.lost)
    while (begun := attempts.begun()) < ATTEMPTS:
        with graders.turn(alone=begun > 0):
            attempts.set(begun + 1)
            answer = graders.grade(work)
        if answer is not None:
            attempts.set(0)  # if the answer is lost with its worker, the submission is not to blame
            return answer
        if graders.closed:  # the worker or the run ends: the submission is not to blame
            with contextlib.suppress(Exception):
                attempts.set(begun)
            raise Reschedule
    return ungraded(work, "killed", "the grading process was killed, twice.", task.isolation, task.salt)


def _graders(worker: Worker, task: Task) -> Graders:
    """This worker's grading processes for the class, a plugin so that Dask stops them with the worker."""
    with _state:
        name = plugin_name(task.run)
        if name not in worker.plugins:
            sync(worker.loop, worker.plugin_add, plugin=Graders(task.isolation, task.salt, task.course), name=name)
        graders = worker.plugins[name]
        assert isinstance(graders, Graders)
        return graders


async def end_run(run: str, dask_worker: Worker) -> None:
    """Stop the grading processes that a worker keeps for a class; `Client.run` passes the worker."""
    if plugin_name(run) in dask_worker.plugins:
        await dask_worker.plugin_remove(name=plugin_name(run))


def plugin_name(run: str) -> str:
    """The plugin name of a class's grading processes."""
    return f"backprop-{run}"


class _Attempts:
    """Unfinished attempts at the current task, counted on the scheduler, which outlives workers."""

    def __init__(self, worker: Worker, lost: int) -> None:
        self._worker, self._lost, self._key = worker, lost, worker.get_current_task()

    def begun(self) -> int:
        call = self._worker.scheduler.get_metadata
        return int(sync(self._worker.loop, call, keys=[self._key], default=self._lost))

    def set(self, number: int) -> None:
        sync(self._worker.loop, self._worker.scheduler.set_metadata, keys=[self._key], value=number)


class Graders(WorkerPlugin):
    """The grading processes of one class on one worker; at the limit, the longest idle one is replaced."""

    def __init__(self, isolation: str, salt: str, course: str = OURS) -> None:
        self._isolation = isolation
        self._salt = salt
        self._course = course
        self._idle: list[GradingProcess] = []
        self._busy: list[GradingProcess] = []
        self._changed = threading.Condition()
        self._taken = 0
        self._suspects = 0
        self._alone = False
        self.closed = False

    def setup(self, worker: Worker) -> None:
        self._folder = worker.local_directory  # Dask removes it, even after a worker that was killed
        self._most = worker.state.nthreads

    async def teardown(self, worker: Worker) -> None:
        await asyncio.to_thread(self.stop)

    def stop(self) -> None:
        """End all grading processes, busy ones at once."""
        with self._changed:
            self.closed = True
            idle, self._idle = self._idle, []
            for process in self._busy:
                process.kill()
        for process in idle:
            process.stop()

    @contextlib.contextmanager
    def turn(self, *, alone: bool) -> Iterator[None]:
        """Wait for permission to grade. A submission that killed a process runs `alone`, so that no other suffers."""
        with self._changed:
            if alone:
                self._suspects += 1
                self._changed.wait_for(lambda: not self._taken)
                self._suspects -= 1
            else:
                self._changed.wait_for(lambda: not self._suspects and not self._alone)
            self._taken, self._alone = self._taken + 1, alone
        try:
            yield
        finally:
            with self._changed:
                self._taken, self._alone = self._taken - 1, False
                self._changed.notify_all()

    def grade(self, work: Work) -> SubmissionResult | Failed | None:
        """The answer of a grading process. None if the process died on it, or all are stopped."""
        answer: Said | None = Failed(f"its grading processes for {work.lesson} end before they begin")
        for _ in range(STILLBORN):
            process = self._take(work.lesson)
            if process is None:
                return None
            began = process.began()
            if began is not None:
                answer = process.grade(work) if isinstance(began, Ready) else began
            self._put_back(process, well=isinstance(answer, SubmissionResult))
            if began is not None:
                break
        assert not isinstance(answer, Ready)
        return None if self.closed and isinstance(answer, Failed) else answer

    def _put_back(self, process: GradingProcess, *, well: bool) -> None:
        with self._changed:
            self._busy.remove(process)
            kept = well and not self.closed
            if kept:
                self._idle.append(process)
        if not kept:
            process.stop()

    def _take(self, lesson: str) -> GradingProcess | None:
        """A process for `lesson`: the one used last, or a new one, if necessary in place of another lesson's."""
        with self._changed:
            if self.closed:
                return None
            surplus = [process for process in self._idle if not process.alive()]
            self._idle = [process for process in self._idle if process not in surplus]
            process = next((process for process in reversed(self._idle) if process.lesson == lesson), None)
            if process is not None:
                self._idle.remove(process)
            else:
                if self._idle and len(self._idle) + len(self._busy) >= self._most + SPARE:
                    surplus.append(self._idle.pop(0))
                process = GradingProcess(Settings(lesson, self._isolation, self._salt), self._folder, self._course)
            self._busy.append(process)
        for other in surplus:
            other.stop()
        return process


class GradingProcess:
    """The Dask worker's side of one `cluster_grader` process."""

    def __init__(self, settings: Settings, folder: str, course: str = OURS) -> None:
        self.lesson = settings.lesson
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "autograder.classroom.cluster_grader"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={**os.environ, **ONE_THREAD, VARIABLE: course, "TMPDIR": folder},
                start_new_session=True,  # the Dask worker handles Ctrl-C
            )
        self._connection = Connection(ours.detach())
        self._began: Said | None = None
        tell(self._connection, settings)

    def alive(self) -> bool:
        """Whether it is running; it ends after a long idle time."""
        return self._process.poll() is None

    def grade(self, work: Work) -> Said | None:
        """The answer for one submission; None if the process died."""
        tell(self._connection, work)
        return hear(self._connection)

    def began(self) -> Said | None:
        """Wait for `Ready` or `Failed`; None if it died first."""
        if self._began is None:
            self._began = hear(self._connection)
        return self._began

    def kill(self) -> None:
        """End it at once. Its sandboxed workers notice, and remove their folders."""
        self._process.kill()

    def stop(self) -> None:
        """Let it end and clean up; kill it after 5 seconds."""
        tell(self._connection, None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._connection.close()
        self._process.kill()
        self._process.wait()
