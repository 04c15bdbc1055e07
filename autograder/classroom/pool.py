"""The processes that grade a class: each holds one lesson's checks and its warm workers.

The parent hands out one submission at a time and takes back one result, so it always knows which submission a
process that died was at: that one is tried once more, and then reported as killed.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
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
"""Submissions that are looked at before the first process starts: enough to see which lessons there are."""


class PoolError(RuntimeError):
    """The backend or a lesson's checks cannot be used; the message says why."""


def grade_all(
    work: Iterable[Work | None], *, jobs: int, isolation: str, salt: str
) -> Generator[SubmissionResult, None, None]:
    """The results of `work`, in the order in which they become known.

    Args:
        work: is gone through while the first are graded. None stands for one that need not be graded after all:
            finding that out takes time, and nobody waits for the next that must.
        jobs: grading processes that run at a time.

    Raises:
        PoolError: a lesson could not be graded at all; raised when all others are done.
    """
    one_thread()
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())  # PyTorch makes it: this one is there
    pool = _Pool(work, jobs, isolation, salt)
    try:
        yield from pool.results()
    except BaseException:
        pool.kill()
        raise
    finally:
        pool.stop()


class _Queue:
    """The work that waits, by lesson, drawn from its source little by little."""

    def __init__(self, source: Iterable[Work | None]) -> None:
        self._source = iter(source)
        self._waiting: dict[str, deque[Work]] = {}
        self.complete = False
        """Whether the source is used up."""

    def draw(self, count: int) -> None:
        """Take up to `count` more from the source."""
        drawn = list(islice(self._source, count))
        self.complete = len(drawn) < count
        for item in filter(None, drawn):
            self.put(item)

    def put(self, item: Work) -> None:
        self._waiting.setdefault(item.lesson, deque()).append(item)

    def lessons(self) -> list[str]:
        """The lessons that work waits in."""
        return [lesson for lesson, items in self._waiting.items() if items]

    def take(self, lesson: str) -> Work | None:
        """The next of a lesson, if one waits."""
        waiting = self._waiting.get(lesson)
        return waiting.popleft() if waiting else None

    def busiest(self, graders: Counter[str]) -> str | None:
        """The lesson that another grader would help most, given how many each lesson has."""
        return max(self.lessons(), key=lambda lesson: len(self._waiting[lesson]) / (1 + graders[lesson]), default=None)


class _Pool:
    """Grading processes, and who of them does what.

    A process keeps its lesson while there is work in it: to start on another one costs as much as many submissions.
    Then it makes room for one of the lesson that has most work for each of its processes, so that none waits for
    the last submission of a lesson.
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
        """What did not get its share of the processors, to be graded again when nothing else is."""
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
                self._grade_the_starved_alone()
                continue
            ready = wait([grader.connection for grader in busy], timeout=None if self._queue.complete else 0)
            heard = [grader for grader in busy if grader.connection in ready]
            found = [result for grader in heard if (result := self._receive(grader)) is not None]
            if not ready:
                self._queue.draw(1)
            self._hand_out()  # before the results are written: nobody waits for the disk
            yield from found
        if self._failed:
            raise PoolError("; ".join(dict.fromkeys(self._failed.values())))

    def _grade_the_starved_alone(self) -> None:
        """Let those that did not get their share wait again, one at a time: what stays starved then is not graded."""
        for grader in list(self._graders):
            self._retire(grader)
        self._alone, self._jobs = True, 1
        for item in self._starved:
            self._queue.put(item)
        self._starved.clear()

    def _hand_out(self) -> None:
        """Give each process that is free the next submission."""
        for grader in [grader for grader in self._graders if grader.at is None]:
            item = self._queue.take(grader.lesson)
            if item is not None:
                grader.hand(item)
            elif self._next_lesson() is not None or self._queue.complete:
                self._retire(grader)
        while len(self._graders) < self._jobs and (lesson := self._next_lesson()) is not None:
            item = self._queue.take(lesson)
            assert item is not None
            grader = self._started(lesson)
            self._graders.append(grader)
            grader.hand(item)

    def _started(self, lesson: str) -> _Grader:
        """A new process for a lesson."""
        if self._starter is None:
            lessons = {lesson, *self._queue.lessons()}
            environments = [environment for slug in lessons for environment in find_lesson(slug).environments]
            self._starter = Nursery(environments) if FORKS else Spawned()
        slot = min(set(range(self._jobs)) - {grader.slot for grader in self._graders})
        settings = Settings(
            lesson, self._isolation, self._salt, self._run, _processor(slot) if self._jobs > 1 else None
        )
        return _Grader(lesson, slot, *self._starter.start(settings))

    def _next_lesson(self) -> str | None:
        """The lesson for a new process; what waits in lessons that cannot be graded is dropped."""
        graders = Counter(grader.lesson for grader in self._graders if grader.at is not None)
        while (lesson := self._queue.busiest(graders)) in self._failed:
            assert lesson is not None
            while self._queue.take(lesson):
                pass
        return lesson

    def _receive(self, grader: _Grader) -> SubmissionResult | None:
        """What a process has to say; a result if that is it."""
        said = hear(grader.connection)
        match said:
            case None:
                return self._lost(grader)
            case Failed(why):
                self._could_not_start(grader, why)
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

    def _could_not_start(self, grader: _Grader, why: str) -> None:
        """A process gave up: another one tries, as its worker may have been killed; then the lesson is given up."""
        assert grader.at is not None
        self._queue.put(grader.at)
        self._failures[grader.lesson] += 1
        if self._failures[grader.lesson] == ATTEMPTS:
            self._failed[grader.lesson] = why
        self._retire(grader)

    def _lost(self, grader: _Grader) -> SubmissionResult | None:
        """A process died: its submission is tried again, or has been often enough."""
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
        """Let a process end, and go on without waiting for it."""
        self._graders.remove(grader)
        grader.at = None
        grader.dismiss()
        self._retired = [other for other in self._retired if other.process.is_alive()] + [grader]

    def kill(self) -> None:
        """End all at once: their workers see that they are gone and leave nothing behind."""
        for grader in [*self._graders, *self._retired]:
            grader.process.kill()

    def stop(self) -> None:
        """Let all end, and see to it."""
        for grader in self._graders:
            grader.dismiss()
        for grader in [*self._graders, *self._retired]:
            grader.await_end()
        if self._starter is not None:
            self._starter.stop()
        remove_folders(self._run)


class _Grader:
    """The parent's end of one grading process, and the submission that it is `at`."""

    def __init__(self, lesson: str, slot: int, connection: Connection, process: ForkedProcess | SpawnProcess) -> None:
        self.lesson = lesson
        self.slot = slot
        """Which of those that run at a time."""
        self.connection = connection
        self.process = process
        self.ready = False
        self.at: Work | None = None

    def hand(self, work: Work) -> None:
        self.at = work
        tell(self.connection, work)

    def dismiss(self) -> None:
        """Let it end, without waiting for that."""
        tell(self.connection, None)
        self.connection.close()

    def await_end(self) -> None:
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _processor(slot: int) -> int | None:
    """The processor of one of the processes that run at a time; None where they cannot be held there."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    ours = sorted(os.sched_getaffinity(0))
    return ours[slot % len(ours)]
