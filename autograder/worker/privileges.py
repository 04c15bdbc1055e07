"""What our own processes beside a submission give up: rights of root that they do not need, and system calls.

None of them runs submitted code. Should one be made to do what it is not for, it is to have little to do it with.
"""

from __future__ import annotations

import ctypes
import os
import sys

from autograder.worker.seccomp import Filter, Line

DAC_OVERRIDE, DAC_READ_SEARCH, SETUID, SYS_ADMIN = (1 << number for number in (1, 2, 7, 21))
"""Capabilities: to remove whatever lies in a folder, to look through folders, to count threads by users, to mount."""
ZYGOTE = DAC_OVERRIDE | DAC_READ_SEARCH | SETUID | SYS_ADMIN
LAUNCHER = DAC_OVERRIDE | DAC_READ_SEARCH
WORKER = DAC_READ_SEARCH | SETUID
SUBMISSION = DAC_READ_SEARCH
"""What each may keep of those that it has. To look through folders lets it import from another user's home."""
_VERSION_3 = 0x20080522


def keep_capabilities(kept: int) -> None:
    """Give up all capabilities but these, for good. `OSError` where that cannot be."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
    libc.capget(header, sets)
    kept &= sets[1]
    if libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def refuse_calls(lines: list[Line]) -> None:
    """Have the kernel refuse system calls to this process and all that it forks, for good, by a filter's lines."""
    if lines:
        Filter(lines).install()
