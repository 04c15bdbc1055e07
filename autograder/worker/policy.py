"""The sandbox policy: what is refused to the worker with all of its forks, and what more to each submission."""

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
        config: `landlock` (the kernel's version of it), `readable` (paths for the worker and all its forks), `scratch`
            (the folder that holds those of the forks), `scratches` and `room` (as `leave_all_but` has them), `root` (an
            empty folder, to mount their file system on), `around` (the same paths as `readable`, or folders above them,
            few enough to be told each fork), `allowed` (the system calls that forks may make, as a filter), `refused`
            (those that the worker itself needs no more) and `tasks` (what the whole account may run, where a fork's
            threads cannot be counted apart).
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._filter = Filter(config["allowed"])

    def raise_around_worker(self) -> bool:
        """Refuse this process and its forks all files but those that they need, and all that is beyond the wall.

        Returns whether other files do not even exist for them.
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
        """Keep this fork from the others and from the worker, from the scratch folders of others, and from the system.

        It may have as many threads as `tasks.limit_tasks` says.

        Raises:
            OSError: the kernel takes a wall for none.
        """
        restrict(self._config["around"], [scratch, os.devnull], self._config["landlock"])
        limit_tasks(self._config["tasks"])
        keep_capabilities(SUBMISSION)
        self._filter.install()
