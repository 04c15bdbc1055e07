"""The plain-process backend: no wall, only limits. For your own code on your own machine."""

from __future__ import annotations

from autograder.isolation.forking import ForkingWorker
from autograder.isolation.tasks import TASKS, tasks_of_user


class ProcessWorker(ForkingWorker):
    """A forking worker that nothing but resource limits and time-outs confines (Linux, macOS)."""

    isolation = "process"

    def rlimits(self) -> dict[str, int]:
        return {**super().rlimits(), "RLIMIT_NPROC": tasks_of_user() + TASKS}  # which root is free of
