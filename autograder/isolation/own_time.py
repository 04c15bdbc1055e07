"""The time that a submission's process has had, on a machine that others use as well.

A limit in seconds on the wall is no limit of the submission's own where its neighbours keep the processors busy:
in a container or a service, whose processes the kernel does not share out by session, a neighbour with 63 threads
leaves it one sixty-fourth. So what a process has waited for a processor, ready to run, is taken off. The kernel counts
that for each thread (`/proc/PID/task/TID/schedstat`, https://docs.kernel.org/scheduler/sched-stats.html); where it does
not, nothing is taken off.
"""

from __future__ import annotations

import os
import time

from autograder.isolation.base import IsolationError

MOST_WAITED = 60.0
"""Seconds that a process may wait for a processor, all told: one that waits longer is not judged on such a machine."""
_NANOSECONDS = 1e-9


class Starved(IsolationError):
    """A submission's process did not get the processor time that it could have used."""


class OwnTime:
    """A clock that stands still while a process waits for a processor.

    It is the clock on the wall, until `settle` asks the kernel: a deadline is passed where it is so after that. The
    process's threads may wait for each other, so that what they have used is never taken off.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = time.monotonic()
        self._ours = _waited("self")
        self._taken_off = 0.0

    def now(self) -> float:
        return time.monotonic() - self._taken_off

    def settle(self) -> None:
        """Take off what the process has waited by now, and what we have: it may have answered long ago.

        Raises:
            Starved: that is more than `MOST_WAITED`.
        """
        waited = _waited(str(self._pid)) + _waited("self") - self._ours
        idle = time.monotonic() - self._began - _used(self._pid)
        self._taken_off = max(self._taken_off, min(waited, idle))
        if self._taken_off > MOST_WAITED:
            raise Starved(
                f"it waited for a processor for more than {MOST_WAITED:g} s, as others kept them busy;"
                " grade it again where there is room"
            )


def _waited(process: str) -> float:
    """How long a process has been ready to run and did not, in seconds: its thread that waited longest.

    Not all of its threads together: they wait for each other, and a crowd of them would earn a minute in a second.
    0 where nobody counts it.
    """
    longest = 0
    try:
        with os.scandir(f"/proc/{process}/task") as threads:
            for thread in threads:
                with open(f"{thread.path}/schedstat", encoding="ascii") as file:
                    longest = max(longest, int(file.read().split()[1]))
    except (OSError, ValueError, IndexError):  # it has ended, or this is another system
        pass
    return longest * _NANOSECONDS


def _used(pid: int) -> float:
    """The processor time of a process and all threads that it had, in seconds; 0 where that is not told."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the clock of a process, as clock_getcpuclockid(3) makes it
    except (OSError, OverflowError):
        return 0.0
