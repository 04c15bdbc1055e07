"""A clock for time limits that leaves out the time a submission's process spent waiting for a processor.

On a busy machine a limit in wall time would punish a submission for its neighbours: in a container or a service, where
the kernel does not schedule by session, a neighbour with 63 threads leaves it a sixty-fourth of a processor. So the
time that the process was ready to run but had no processor is subtracted. The kernel counts that for each thread
(`/proc/PID/task/TID/schedstat`, https://docs.kernel.org/scheduler/sched-stats.html); on systems that do not, nothing is
subtracted.
"""

from __future__ import annotations

import os
import time

from autograder.isolation.base import IsolationError

MOST_WAITED = 60.0
"""Seconds that a process may wait for a processor, however little of one it gets."""
LEAST_SHARE = 1 / 16
"""Smallest share of the time in which it had a processor for it to wait longer.

The bound is on the share: who computes for half a minute among four processes waits a minute and a half.
"""
_NANOSECONDS = 1e-9


class Starved(IsolationError):
    """A submission's process waited too long for a processor to be judged."""


class OwnTime:
    """A clock that does not count the time during which a process waited for a processor.

    `now` is wall time less the waiting that the last `settle` read from the kernel: call `settle` before you decide
    that a deadline has passed. Processor time that the process used is never subtracted, although its threads may have
    waited for each other meanwhile.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = time.monotonic()
        self._ours = _waited("self")
        self._taken_off = 0.0

    def now(self) -> float:
        return time.monotonic() - self._taken_off

    def settle(self) -> None:
        """Subtract the waiting of the process so far, and our own: its answer may have been there all the while.

        Raises:
            Starved: the sum is more than `MOST_WAITED`, and more than `LEAST_SHARE` of the time allows.
        """
        waited = _waited(str(self._pid)) + _waited("self") - self._ours
        idle = time.monotonic() - self._began - _used(self._pid)
        self._taken_off = max(self._taken_off, min(waited, idle))
        if self._taken_off > max(MOST_WAITED, (1 - LEAST_SHARE) * (time.monotonic() - self._began)):
            raise Starved(
                f"it waited for a processor for more than {MOST_WAITED:g} s and nearly all of the time, as others"
                " kept them busy; grade it again where there is room"
            )


def _waited(process: str) -> float:
    """Seconds that a process has waited for a processor: the maximum over its threads, 0 if the kernel does not count.

    Not the sum: threads of one process wait for each other, and sixty of them would gain a minute in a second.
    """
    longest = 0
    try:
        with os.scandir(f"/proc/{process}/task") as threads:
            for thread in threads:
                with open(f"{thread.path}/schedstat", encoding="ascii") as file:
                    longest = max(longest, int(file.read().split()[1]))
    except (OSError, ValueError, IndexError):  # the process has ended, or this is not Linux
        pass
    return longest * _NANOSECONDS


def _used(pid: int) -> float:
    """Seconds of processor time that a process and all its threads have used; 0 if the system does not say."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the id that clock_getcpuclockid(3) returns
    except (OSError, OverflowError):
        return 0.0
