"""The plain-process backend: resource limits but no sandbox, for your own code on your own machine."""

from __future__ import annotations

from autograder.isolation.forking import ForkingWorker
from autograder.isolation.tasks import TASKS, tasks_of_user


class ProcessWorker(ForkingWorker):
    """A forking worker that is confined by resource limits and timeouts only (Linux, macOS)."""

    isolation = "process"

    def rlimits(self, processor_seconds: float | None) -> dict[str, int]:
        return {**super().rlimits(processor_seconds), "RLIMIT_NPROC": tasks_of_user() + TASKS}  # root is exempt
