"""Which backend runs a submission."""

from __future__ import annotations

import os

from autograder.isolation.base import IsolationError, Limits, Worker
from course.syllabus import Lesson

BACKENDS = ("sandlock", "process")


def start_worker(lesson: Lesson, backend: str, limits: Limits | None = None) -> Worker:
    """A warm worker for `lesson`. `IsolationError` when the backend is unknown or cannot work here."""
    limits = limits or Limits()
    if backend == "sandlock":
        from autograder.isolation.sandbox import SandboxWorker

        return SandboxWorker(lesson, limits)
    if backend != "process":
        raise IsolationError(f"there is no isolation {backend!r}; there are {' and '.join(BACKENDS)}")
    if not hasattr(os, "fork"):
        from autograder.isolation.spawning import SpawningWorker

        return SpawningWorker(lesson)
    from autograder.isolation.process import ProcessWorker

    return ProcessWorker(lesson, limits)
