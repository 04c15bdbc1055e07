"""The pool of processes that grade a class, each with one lesson's checks and warm workers.

The parent sends one submission at a time to each process, so it knows which submission a process died on. That
submission is tried once more and then reported as killed.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from math import inf
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import ungraded
from autograder.classroom.messages import ATTEMPTS, STILLBORN, Failed, Ready, Settings, hear, tell
from autograder.classroom.nursery import ForkedProcess, Nursery
from autograder.classroom.spawned import Spawned
from autograder.isolation import remove_folders
from autograder.isolation.zygote import FORKS
from autograder.judging.records.errors import is_starved
from autograder.judging.records.results import SubmissionResult
from autograder.threads import one_thread
from course.syllabus import find_lesson

AHEAD = 64
"""Submissions drawn before the first process starts, enough to know which lessons there are."""
FEW = 16
"""So many waiting submissions pay for one more process of their lesson at once, and for each one after it."""
QUIET_SECONDS = 4.0
"""Fewer pay when the lesson's processes have sent nothing for this long, or if they take longer than a first answer."""


class PoolError(RuntimeError):
    """The backend or a lesson's checks cannot be used; the message says why."""


def grade_all(
    work: Iterable[Work | None], *, jobs: int, isolation: str, salt: str
) -> Generator[SubmissionResult, None, None]:
    """Yield the results of `work` as they become known.

    Args:
        work: read lazily while grading runs. None means "looked at, nothing to grade", so that the pool can hand out
            work
            in between.
        jobs: number of grading processes at a time.

    Raises:
        PoolError: a lesson could not be graded at all; raised after all others are done.
    """
    one_thread()
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())  # or PyTorch would create a folder
    pool = _Pool(work, jobs, isolation, salt)
    try:
        yield from pool.results()
    except BaseException:
        pool.kill()
        raise
    finally:
        pool.stop()


class _Queue:
    """The waiting work by lesson, drawn from its source in small portions."""

    def __init__(self, source: Iterable[Work | None]) -> None:
        self._source = iter(source)
        self._waiting: dict[str, deque[Work]] = {}
        self.complete = False
        """Whether the source is exhausted."""

    def draw(self, count: int) -> None:
        """Take up to `count` more from the source."""
        drawn = list(islice(self._source, count))
        self.complete = len(drawn) < count
        for item in filter(None, drawn):
            self.put(item)

    def put(self, item: Work) -> None:
        self._waiting.setdefault(item.lesson, deque()).append(item)

    def lessons(self) -> list[str]:
        """The lessons with waiting work."""
        return [lesson for lesson, items in self._waiting.items() if items]

    def take(self, lesson: str) -> Work | None:
        """The next work of a lesson, if any is waiting."""
        waiting = self._waiting.get(lesson)
        return waiting.popleft() if waiting else None

    def busiest(self, graders: Counter[str]) -> str | None:
        """The lesson that needs another grader most, given how many each lesson has."""
        return max(self.lessons(), key=lambda lesson: len(self._waiting[lesson]) / (1 + graders[lesson]), default=None)

    def waiting(self, lesson: str) -> int:
        """How many submissions of a lesson wait."""
        return len(self._waiting.get(lesson, ()))


class _Pool:
    """The grading processes and their assignments.

    A process keeps its lesson while there is work for it, because loading another lesson costs as much as grading many
    submissions. Then a process for the lesson with most work per process replaces it, so that none waits for the last
    submission of a lesson.
    """

    def __init__(self, work: Iterable[Work | None], jobs: int, isolation: str, salt: str) -> None:
        self._queue = _Queue(work)
        self._jobs = jobs
        self._isolation, self._salt = isolation, salt
        self._run = f"{secrets.token_hex(8)}-"
        self._graders: list[_Grader] = []
        self._retired: list[_Grader] = []
        self._attempts: Counter[Work] = Counter()
        self._stillborn = 0
        self._failures: Counter[str] = Counter()
        self._failed: dict[str, str] = {}
        self._starved: list[Work] = []
        """Work that did not get its share of the processors, graded again when nothing else is running."""
        self._alone = False
        self._starter: Nursery | Spawned | None = None

    def results(self) -> Iterator[SubmissionResult]:
        self._queue.draw(AHEAD)
        while True:
            self._hand_out()
            busy = [grader for grader in self._graders if grader.at is not None]
            if not busy and self._queue.complete:
                if not self._starved:
                    break
                self._retry_starved()
                continue
            ready = wait([grader.connection for grader in busy], timeout=self._seconds_to_wait())
            heard = [grader for grader in busy if grader.connection in ready]
            found = [result for grader in heard if (result := self._receive(grader)) is not None]
            if not ready and not self._queue.complete:
                self._queue.draw(1)
            self._hand_out()  # first, so that no process waits for the disk
            yield from found
        if self._failed:
            raise PoolError("; ".join(dict.fromkeys(self._failed.values())))

    def _retry_starved(self) -> None:
        """Queue the starved submissions again, one at a time; those starved again are not graded."""
        for grader in list(self._graders):
            self._retire(grader)
        self._alone, self._jobs = True, 1
        for item in self._starved:
            self._queue.put(item)
        self._starved.clear()

    def _hand_out(self) -> None:
        """Send the next submission to each free process, and start or retire processes."""
        for grader in [grader for grader in self._graders if grader.at is None]:
            item = self._queue.take(grader.lesson)
            if item is not None:
                grader.hand(item)
            elif self._next_lesson() is not None or self._queue.complete:
                self._retire(grader)
        while len(self._graders) < self._jobs and (lesson := self._lesson_to_start()) is not None:
            item = self._queue.take(lesson)
            assert item is not None
            grader = self._start_grader(lesson)
            self._graders.append(grader)
            grader.hand(item)

    def _start_grader(self, lesson: str) -> _Grader:
        """Start a process for a lesson."""
        if self._starter is None:
            lessons = {lesson, *self._queue.lessons()}
            environments = [environment for slug in lessons for environment in find_lesson(slug).environments]
            self._starter = Nursery(environments) if FORKS else Spawned()
        slot = min(set(range(self._jobs)) - {grader.slot for grader in self._graders})
        settings = Settings(
            lesson, self._isolation, self._salt, self._run, _processor(slot) if self._jobs > 1 else None
        )
        return _Grader(lesson, slot, *self._starter.start(settings))

    def _lesson_to_start(self) -> str | None:
        """The lesson for one more process, if that is worth its start."""
        lesson = self._next_lesson()
        if lesson is None or self._is_worth_another(lesson):
            return lesson
        of_graders = {grader.lesson for grader in self._graders}
        return next((other for other in self._queue.lessons() if other not in {*of_graders, *self._failed}), None)

    def _is_worth_another(self, lesson: str) -> bool:
        """Whether one more process shortens the work: a start costs as much as some ten answers of a quick lesson."""
        mine = [grader for grader in self._graders if grader.lesson == lesson]
        waiting, ready = self._queue.waiting(lesson), [grader for grader in mine if grader.ready]
        if not mine or waiting >= FEW * len(mine):
            return True
        if not ready:
            return False
        left = waiting * min(grader.pace for grader in ready) / len(mine)
        quiet = time.monotonic() - max(grader.heard for grader in ready)
        return quiet >= QUIET_SECONDS or (left < inf and left >= max(grader.first for grader in ready))

    def _seconds_to_wait(self) -> float | None:
        """How long to wait for a message: not at all while there is work to draw; else until another process pays."""
        if not self._queue.complete:
            return 0
        withheld = len(self._graders) < self._jobs and self._queue.lessons()
        return QUIET_SECONDS / 4 if withheld else None

    def _next_lesson(self) -> str | None:
        """The lesson for a new process; drops work of lessons that cannot be graded."""
        graders = Counter(grader.lesson for grader in self._graders if grader.at is not None)
        while (lesson := self._queue.busiest(graders)) in self._failed:
            assert lesson is not None
            while self._queue.take(lesson):
                pass
        return lesson

    def _receive(self, grader: _Grader) -> SubmissionResult | None:
        """Handle a process's message; returns the result if the message is one."""
        said = hear(grader.connection)
        grader.note(said)
        match said:
            case None:
                return self._on_death(grader)
            case Failed(why):
                self._on_failure(grader, why)
            case Ready():
                self._stillborn, self._failures[grader.lesson], grader.ready = 0, 0, True
            case SubmissionResult():
                item, grader.at = grader.at, None
                if is_starved(said) and not self._alone:
                    assert item is not None
                    self._starved.append(item)
                    return None
                return said
        return None

    def _on_failure(self, grader: _Grader, why: str) -> None:
        """Retry with another process, since a killed worker may be the reason; after `ATTEMPTS`, give up the lesson."""
        assert grader.at is not None
        self._queue.put(grader.at)
        self._failures[grader.lesson] += 1
        if self._failures[grader.lesson] == ATTEMPTS:
            self._failed[grader.lesson] = why
        self._retire(grader)

    def _on_death(self, grader: _Grader) -> SubmissionResult | None:
        """Handle the death of a process: queue its submission again, or report it as killed after `ATTEMPTS`."""
        item = grader.at
        assert item is not None
        self._retire(grader)
        if not grader.ready:
            self._stillborn += 1
            if self._stillborn == STILLBORN:
                raise PoolError(
                    f"{STILLBORN} grading processes in a row ended before they began, at last for {item.lesson}"
                )
        else:
            self._attempts[item] += 1
            if self._attempts[item] == ATTEMPTS:
                return ungraded(item, "killed", "the grading process was killed, twice.", self._isolation, self._salt)
        self._queue.put(item)
        return None

    def _retire(self, grader: _Grader) -> None:
        """Dismiss a process without waiting for its end."""
        self._graders.remove(grader)
        grader.at = None
        grader.dismiss()
        self._retired = [other for other in self._retired if other.process.is_alive()] + [grader]

    def kill(self) -> None:
        """Kill all processes. Their workers notice and clean up."""
        for grader in [*self._graders, *self._retired]:
            grader.process.kill()

    def stop(self) -> None:
        """End all processes, and wait until they have ended."""
        for grader in self._graders:
            grader.dismiss()
        for grader in [*self._graders, *self._retired]:
            grader.await_end()
        if self._starter is not None:
            self._starter.stop()
        remove_folders(self._run)


class _Grader:
    """The parent's side of one grading process; `at` is the submission it is working on."""

    def __init__(self, lesson: str, slot: int, connection: Connection, process: ForkedProcess | SpawnProcess) -> None:
        self.lesson = lesson
        self.slot = slot
        """Index among the processes that run at a time."""
        self.connection = connection
        self.process = process
        self.ready = False
        self.at: Work | None = None
        self.heard = time.monotonic()
        """When it sent its last message, or was started."""
        self.first = 0.0
        """Seconds until its first answer: of its start, and of computing what all answers are compared with."""
        self.pace = inf
        """Seconds of its quickest answer after the first; inf before that."""
        self._answers = 0

    def hand(self, work: Work) -> None:
        self.at = work
        tell(self.connection, work)

    def note(self, said: object) -> None:
        """Take the time of a message."""
        took, self.heard = time.monotonic() - self.heard, time.monotonic()
        if not self._answers:
            self.first += took
        if isinstance(said, SubmissionResult):
            self._answers += 1
            if self._answers > 1:
                self.pace = min(self.pace, took)

    def dismiss(self) -> None:
        """Let it end, without waiting."""
        tell(self.connection, None)
        self.connection.close()

    def await_end(self) -> None:
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _processor(slot: int) -> int | None:
    """The processor for a slot; None if processes cannot be pinned on this system."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    ours = sorted(os.sched_getaffinity(0))
    return ours[slot % len(ours)]
