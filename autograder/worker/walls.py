"""The walls of the sandbox: one around the worker with all of its forks, one more around each submission."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from autograder.worker.landlock import restrict
from autograder.worker.mounts import leave_all_but
from autograder.worker.seccomp import Filter
from autograder.worker.tasks import limit_tasks

_CAPABILITY_VERSION_3 = 0x20080522
_CAP_DAC_READ_SEARCH = 1 << 2


class Walls:
    """What confines a worker and its forks.

    Args:
        config: `landlock` (the kernel's version of it), `readable` (paths for the worker and all its forks), `scratch`
            (the folder that holds those of the forks), `scratches` and `room` (as `leave_all_but` has them), `root` (an
            empty folder, to mount their file system on), `around` (the same paths as `readable`, or folders above them,
            few enough to be told each fork), `allowed` (the system calls that forks may make, as a filter) and `tasks`
            (what the whole account may run, where a fork's threads cannot be counted apart).
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._filter = Filter(config["allowed"])
        self._libc = ctypes.CDLL(None, use_errno=True)

    def raise_around_worker(self) -> bool:
        """Refuse this process and its forks all files but those that they need, and all that is beyond the wall.

        Returns whether other files do not even exist for them.
        """
        config = self._config
        apart = leave_all_but(
            config["readable"], [os.devnull], config["scratches"], tuple(config["room"]), config["root"]
        )
        restrict(config["readable"], [config["scratch"], os.devnull], config["landlock"])
        return apart

    def raise_around_submission(self, scratch: str) -> None:
        """Keep this fork from the others and from the worker, from the scratch folders of others, and from the system.

        It may have as many threads as `tasks.limit_tasks` says.

        Raises:
            OSError: the kernel takes a wall for none.
        """
        restrict(self._config["around"], [scratch, os.devnull], self._config["landlock"])
        limit_tasks(self._config["tasks"])
        self._drop_capabilities()
        self._filter.install()

    def _drop_capabilities(self) -> None:
        """Give up what root may do beyond its own files: set the clock, make devices, raise its limits, watch files.

        Looking through folders stays, so that modules can still be imported from another user's home.
        """
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
        self._libc.capget(header, sets)
        kept = sets[1] & _CAP_DAC_READ_SEARCH
        if self._libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept)) != 0:
            raise OSError(ctypes.get_errno(), "the capabilities could not be dropped")
