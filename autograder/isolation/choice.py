"""Which backend runs a submission, and the warm workers that a lesson needs."""

from __future__ import annotations

import os

from autograder.isolation.base import IsolationError, Limits, Worker
from course.syllabus import Kit, Lesson

BACKENDS = ("sandlock", "process")
TORCH_MEMORY = 6 * 2**30
"""Bytes of address space where PyTorch is loaded: its libraries alone map more than a NumPy submission may use."""


def start_worker(kit: Kit, backend: str, limits: Limits | None = None) -> Worker:
    """A warm worker that has `kit`. `IsolationError` when the backend is unknown or cannot work here."""
    limits = limits or (Limits(memory=TORCH_MEMORY) if "torch" in kit.packages else Limits())
    if backend == "sandlock":
        from autograder.isolation.sandbox import SandboxWorker

        return SandboxWorker(kit, limits)
    if backend != "process":
        raise IsolationError(f"there is no isolation {backend!r}; there are {' and '.join(BACKENDS)}")
    if not hasattr(os, "fork"):
        from autograder.isolation.spawning import SpawningWorker

        return SpawningWorker(kit)
    from autograder.isolation.process import ProcessWorker

    return ProcessWorker(kit, limits)


class Workers:
    """The warm workers of one lesson, one for each kit that its exercises have, started when first needed."""

    def __init__(self, lesson: Lesson, backend: str) -> None:
        self.lesson = lesson
        self.backend = backend
        self._started: dict[Kit, Worker] = {}

    @property
    def isolation(self) -> str:
        """What confines the submissions, as results record it."""
        for worker in self._started.values():
            return worker.isolation
        return self.of(self.lesson.kit).isolation

    def of(self, kit: Kit) -> Worker:
        """The worker that has `kit`. `IsolationError` as for `start_worker`."""
        if kit not in self._started:
            self._started[kit] = start_worker(kit, self.backend)
        return self._started[kit]

    def start(self) -> None:
        """Start all of them now. `IsolationError` as for `start_worker`."""
        for kit in self.lesson.kits:
            self.of(kit)

    def stop(self) -> None:
        """End the workers and everything below them."""
        for worker in self._started.values():
            worker.stop()
        self._started.clear()
