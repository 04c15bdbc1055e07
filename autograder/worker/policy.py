"""The sandbox policy: restrictions on the worker with all its forks, and further ones on each submission."""

from __future__ import annotations

import os
from typing import Any

from autograder.worker.landlock import restrict
from autograder.worker.mounts import leave_all_but
from autograder.worker.privileges import SUBMISSION, WORKER, keep_capabilities, refuse_calls
from autograder.worker.seccomp import Filter
from autograder.worker.tasks import limit_tasks


class SandboxPolicy:
    """What confines a worker and its forks.

    Args:
        config: `landlock` (the kernel's Landlock version), `readable` (paths for the worker and all its forks),
            `scratch` (the folder that contains the forks' scratch folders), `scratches` and `room` (see
            `leave_all_but`), `root` (an empty folder to mount their file system on), `around` (the paths of `readable`
            or their parents: fewer, because each fork adds a rule for each), `allowed` (filter of the system calls that
            forks may make), `refused` (filter of those that the worker no longer needs) and `tasks` (the limit for the
            whole account, if a fork's threads cannot be counted separately).
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._filter = Filter(config["allowed"])

    def raise_around_worker(self) -> bool:
        """Confine this process and its forks to the files that they need, without network or access to other processes.

        Returns whether they got their own mount namespace, in which other files do not even exist.
        """
        config = self._config
        apart = leave_all_but(
            config["readable"], [os.devnull], config["scratches"], tuple(config["room"]), config["root"]
        )
        restrict(config["readable"], [config["scratch"], os.devnull], config["landlock"])
        keep_capabilities(WORKER)
        refuse_calls(config["refused"])
        return apart

    def raise_around_submission(self, scratch: str) -> None:
        """Isolate this fork from the worker, the other forks and their scratch folders, and filter its system calls.

        `tasks.limit_tasks` limits its threads.

        Raises:
            OSError: the kernel rejects a restriction.
        """
        restrict(self._config["around"], [scratch, os.devnull], self._config["landlock"])
        limit_tasks(self._config["tasks"])
        keep_capabilities(SUBMISSION)
        self._filter.install()
