"""Which backend runs a submission, and the warm workers that a lesson needs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from autograder.isolation.base import IsolationError, Limits, Worker
from course.syllabus import Environment, Exercise, Lesson

BACKENDS = ("sandbox", "process")
EARLIER = {"sandlock": "sandbox"}
"""What backends were called, by those who have it in a script."""
TORCH_MEMORY = 6 * 2**30
"""Bytes of address space where PyTorch is loaded: its libraries alone map more than a NumPy submission may use."""


def start_worker(
    environment: Environment, backend: str, limits: Limits | None = None, run: str = "", processor: int | None = None
) -> Worker:
    """A worker that has `environment`, being warmed; `run` and `processor` as for `Workers`.

    `IsolationError` when the backend is unknown or cannot work here.
    """
    limits = limits or (Limits(memory=TORCH_MEMORY) if "torch" in environment.packages else Limits())
    backend = EARLIER.get(backend, backend)
    if backend == "sandbox":
        from autograder.isolation.sandbox import SandboxWorker

        return SandboxWorker(environment, limits, run, processor)
    if backend != "process":
        raise IsolationError(f"there is no isolation {backend!r}; there are {' and '.join(BACKENDS)}")
    if not hasattr(os, "fork"):
        from autograder.isolation.spawning import SpawningWorker

        return SpawningWorker(environment)
    from autograder.isolation.process import ProcessWorker

    return ProcessWorker(environment, limits, run, processor)


class Workers:
    """The warm workers of one lesson, one for each environment that its exercises have, started when first needed.

    Args:
        run: a name for `remove_folders`, should the process that starts them be killed.
        processor: the one that they keep to with all that submissions start, where the system can hold them there.
    """

    def __init__(self, lesson: Lesson, backend: str, run: str = "", processor: int | None = None) -> None:
        self.lesson = lesson
        self.backend = backend
        self.run = run
        self.processor = processor
        self._started: dict[Environment, Worker] = {}

    @property
    def isolation(self) -> str:
        """What confines the submissions, as results record it."""
        worker = next(iter(self._started.values()), None) or self.of(self.lesson.environment)
        with contextlib.suppress(IsolationError):  # who opens a process meets it
            worker.ready()  # which knows what this machine allows
        return worker.isolation

    def of(self, environment: Environment) -> Worker:
        """The worker that has `environment`. `IsolationError` as for `start_worker`."""
        if environment not in self._started:
            self._started[environment] = start_worker(environment, self.backend, run=self.run, processor=self.processor)
        return self._started[environment]

    def begin(self, exercises: Iterable[Exercise]) -> None:
        """Begin to start what these exercises need, without waiting; whoever asks for a worker meets its errors."""
        for environment in dict.fromkeys(exercise.environment for exercise in exercises):
            with contextlib.suppress(IsolationError):
                self.of(environment)

    def start(self) -> None:
        """Start all of them and wait until they can serve. `IsolationError` if one cannot."""
        for worker in [self.of(environment) for environment in self.lesson.environments]:
            worker.ready()

    def stop(self) -> None:
        """End the workers and everything below them."""
        for worker in self._started.values():
            worker.stop()
        self._started.clear()
