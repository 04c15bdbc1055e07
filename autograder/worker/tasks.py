"""How many threads a submission may have: the kernel counts those of a user, so each gets a count of its own."""

from __future__ import annotations

import ctypes
import os
import resource

MOST_TASKS = 64
_CLONE_NEWUSER = 0x10000000
_USERS = 2**30
"""From here on lie as many numbers of users that no one has."""


def limit_tasks(otherwise: int) -> None:
    """Let this process have `MOST_TASKS` threads at most; for good, once its capabilities are dropped.

    Under root's account its real user becomes one that no other process has; its files and rights go by the effective
    one, which stays. Another account cannot do that, but can have a user namespace, in which counting begins anew
    (from Linux 5.14 on). Where neither is allowed, the limit is on all that the account runs: `otherwise`. Root without
    the capability to change its user has no limit: nothing of the kind holds for it.
    """
    most = MOST_TASKS if _count_apart() else otherwise
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _count_apart() -> bool:
    if os.geteuid() == 0:
        try:
            os.setresuid(_USERS + int.from_bytes(os.urandom(4), "little") % _USERS, -1, -1)
            return True
        except OSError:  # a container that has few users
            pass
    return bool(ctypes.CDLL(None).unshare(_CLONE_NEWUSER) == 0)
