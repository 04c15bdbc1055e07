"""Chooses the backend, and keeps the workers that a lesson needs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from autograder.isolation.base import IsolationError, Limits, Worker
from course.syllabus import Environment, Exercise, Lesson

BACKENDS = ("sandbox", "process")
EARLIER = {"sandlock": "sandbox"}
"""Former names of backends, still accepted because scripts have them."""
TORCH_MEMORY = 6 * 2**30
"""Bytes of address space with PyTorch: its libraries alone map more than a NumPy submission may use."""


def start_worker(
    environment: Environment, backend: str, limits: Limits | None = None, run: str = "", processor: int | None = None
) -> Worker:
    """Start a worker with `environment`, without waiting for it; `run` and `processor` as for `Workers`.

    Raises:
        IsolationError: the backend is unknown, or cannot work here.
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
    """The workers of one lesson, one for each environment of its exercises, started when first needed.

    Args:
        run: the name under which `remove_folders` finds their folders if the judge is killed.
        processor: the number of the processor to pin them and their submissions to, on systems that can.
    """

    def __init__(self, lesson: Lesson, backend: str, run: str = "", processor: int | None = None) -> None:
        self.lesson = lesson
        self.backend = backend
        self.run = run
        self.processor = processor
        self._started: dict[Environment, Worker] = {}

    @property
    def isolation(self) -> str:
        """The name of the isolation, as results record it."""
        worker = next(iter(self._started.values()), None) or self.of(self.lesson.environment)
        with contextlib.suppress(IsolationError):  # `open` will raise it again
            worker.ready()  # only then is it known what this machine supports
        return worker.isolation

    def of(self, environment: Environment) -> Worker:
        """The worker with `environment`. `IsolationError` as for `start_worker`."""
        if environment not in self._started:
            self._started[environment] = start_worker(environment, self.backend, run=self.run, processor=self.processor)
        return self._started[environment]

    def begin(self, exercises: Iterable[Exercise]) -> None:
        """Start the workers that these exercises need, without waiting. Errors are left to the later call of `of`."""
        for environment in dict.fromkeys(exercise.environment for exercise in exercises):
            with contextlib.suppress(IsolationError):
                self.of(environment)

    def start(self) -> None:
        """Start all workers of the lesson and wait until they can serve. `IsolationError` if one cannot."""
        for worker in [self.of(environment) for environment in self.lesson.environments]:
            worker.ready()

    def stop(self) -> None:
        """End the workers and all processes below them."""
        for worker in self._started.values():
            worker.stop()
        self._started.clear()
