"""Runs the checks on each mutant, in a separate process with limits of time and memory.

A warm judge (checks collected, the reference's answers known) forks once for each mutant, which takes 0.02 s.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import psutil

from autograder.authoring.mutation.mutants import Mutant
from autograder.collection import with_judge
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.session import Judge
from autograder.threads import ONE_THREAD
from course.syllabus import Lesson

CPU_SECONDS = 3.0
"""A mutant may use this much processor time, or ten times what the reference uses, whichever is more."""
WALL_FACTOR = 10
"""Limit of wall time over limit of processor time: the machine may be busy, or a mutant may wait forever."""
MEMORY = 2 * 2**30
"""Bytes of address space that a mutant may add to the judge's."""
SURVIVED = "survived"
KILLED, TIMED_OUT, CRASHED = "killed", "timed out", "crashed"


class TrialError(RuntimeError):
    """The mutants of a lesson cannot be tried; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """The verdict on a mutant."""

    mutant: Mutant
    verdict: str
    """`survived`, `killed` (by a check), `timed out`, or `crashed` (the process ended abnormally)."""
    by: str = ""
    """The exercise whose checks killed it."""


@dataclass(frozen=True)
class PartResult:
    """The outcomes of one part of a lesson: an exercise or a helper."""

    part: str
    outcomes: list[Outcome]
    seconds: float


def try_parts(
    lesson: Lesson,
    text: str,
    parts: dict[str, list[Mutant]],
    *,
    jobs: int,
    root: Path,
    seconds: float = CPU_SECONDS,
) -> Iterator[PartResult]:
    """Yield the results of all `parts` in order, each as soon as it and those before it are known.

    Args:
        text: the source that the mutants change.
        jobs: the number of processes; each takes one part after the other.
        seconds: the least limit of processor time for a mutant, in the checks of one exercise.

    Raises:
        TrialError: the reference fails its checks, or a process is killed.
        CheckError: the checks cannot be run.
    """
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)  # there are enough processes already, and threads do not survive a fork
    try:
        # Spawned, because a fork of this process could inherit locks held by its threads.
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_end_quietly)
        try:
            futures = [
                pool.submit(_try_part, lesson, text, part, mutants, root, seconds) for part, mutants in parts.items()
            ]
            for future in futures:
                yield future.result()
        except BrokenProcessPool:
            raise TrialError("a process that tries mutants was killed: is there enough memory?") from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _end_quietly() -> None:
    """Let Ctrl-C, which all processes get, end this one without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _try_part(lesson: Lesson, text: str, part: str, mutants: list[Mutant], root: Path, seconds: float) -> PartResult:
    """Try the mutants of one part in turn, with a new judge."""
    start = time.monotonic()

    def use(judge: Judge) -> list[Outcome]:
        trials = _Trials(judge, text, seconds)
        return [trials.try_mutant(mutant) for mutant in mutants]

    outcomes = with_judge(lesson, use, root=root)
    return PartResult(part, outcomes, time.monotonic() - start)


class _Trials:
    """Tries mutants with one judge, and remembers how long the reference takes."""

    def __init__(self, judge: Judge, text: str, seconds: float) -> None:
        self._judge = judge
        self._least = seconds
        self._source = text.encode()
        self._seconds: dict[str, float] = {}

    def try_mutant(self, mutant: Mutant) -> Outcome:
        """Run the checks of the mutant's exercises in turn, until those of one reject it."""
        text = mutant.splice.applied(self._source)
        for exercise in mutant.exercises:
            verdict = self._verdict(text, exercise, self._reference_seconds(exercise))
            if verdict != SURVIVED:
                return Outcome(mutant, verdict, exercise)
        return Outcome(mutant, SURVIVED)

    def _verdict(self, text: str, exercise: str, seconds: float) -> str:
        """The verdict of one exercise's checks on a source, run in a fork. `TrialError` if they cannot be run."""
        context = multiprocessing.get_context("fork")
        answers, tell = context.Pipe(duplex=False)
        process = context.Process(target=self._try, args=(text, exercise, seconds, tell))
        process.start()
        tell.close()
        try:
            if not answers.poll(seconds * WALL_FACTOR):
                return TIMED_OUT
            verdict, problem = answers.recv()
        except EOFError:
            process.join()
            return TIMED_OUT if process.exitcode == -signal.SIGXCPU else CRASHED
        finally:
            answers.close()
            process.kill()
            process.join()
        if problem:
            raise TrialError(problem)
        return str(verdict)

    def _reference_seconds(self, exercise: str) -> float:
        """A mutant's limit of processor time in an exercise's checks. `TrialError` if the reference fails them."""
        if exercise not in self._seconds:
            # The first run imports modules and caches the reference's answers; the second one is timed.
            for _ in range(2):
                start = time.process_time()
                if not _passes(self._judge, self._judge.reference.local(), exercise):
                    raise TrialError(f"the reference fails the checks of {exercise}")
                seconds = max(self._least, 10 * (time.process_time() - start))
            verdict = self._verdict(self._source.decode(), exercise, seconds)
            if verdict != SURVIVED:  # with too low a limit, every mutant would count as killed
                raise TrialError(
                    f"the reference itself is {verdict} in the checks of {exercise} where it is run as mutants are"
                )
            self._seconds[exercise] = seconds
        return self._seconds[exercise]

    def _try(self, text: str, exercise: str, seconds: float, tell: Connection) -> None:
        # runs in the fork
        _limit(seconds)
        try:
            try:
                run = self._judge.reference.local_text(text)
            except Exception:  # a cell that raises defines nothing, so its exercise fails
                tell.send((KILLED, ""))
                return
            tell.send((SURVIVED if _passes(self._judge, run, exercise) else KILLED, ""))
        except Exception as error:
            tell.send(("", f"{type(error).__name__}: {error}"))


def _passes(judge: Judge, run: LocalRun, exercise: str) -> bool:
    """Whether all checks of an exercise accept `run`; stops at the first that does not."""
    items = judge.items_of(exercise)
    return bool(items) and all(judge.observe([item], run)[0].passed for item in items)


def _limit(seconds: float) -> None:
    """Limit this process to so many seconds of processor time, and to `MEMORY` more bytes of address space."""
    whole = math.ceil(seconds)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
    most = psutil.Process().memory_info().vms + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
