"""Limits a submission's threads. The kernel counts by user, so each submission gets its own user to be counted by."""

from __future__ import annotations

import ctypes
import os
import resource

MOST_TASKS = 64
_CLONE_NEWUSER = 0x10000000
_USERS = 2**30
"""The first of as many uids that no account has."""


def limit_tasks(otherwise: int) -> None:
    """Limit this process to `MOST_TASKS` threads; permanent once its capabilities are dropped.

    As root, its real uid becomes an unused one; the effective uid, which decides file access, stays. Any other account
    enters a user namespace, which has its own count (since Linux 5.14). If neither is allowed, `otherwise` limits all
    tasks of the account together. Root without CAP_SETUID stays unlimited, because RLIMIT_NPROC does not apply to root.
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
        except OSError:  # a container with few uids
            pass
    return bool(ctypes.CDLL(None).unshare(_CLONE_NEWUSER) == 0)
