"""Drops the capabilities and system calls that our own processes do not need.

These processes run no submitted code; if one is exploited all the same, this limits the damage.
"""

from __future__ import annotations

import ctypes
import os
import sys

from autograder.worker.seccomp import Filter, Line

DAC_OVERRIDE, DAC_READ_SEARCH, SETUID, SYS_ADMIN = (1 << number for number in (1, 2, 7, 21))
"""Capabilities: to delete any folder's contents, to search folders, to count threads by user, and to mount."""
ZYGOTE = DAC_OVERRIDE | DAC_READ_SEARCH | SETUID | SYS_ADMIN
LAUNCHER = DAC_OVERRIDE | DAC_READ_SEARCH
WORKER = DAC_READ_SEARCH | SETUID
SUBMISSION = DAC_READ_SEARCH
"""The capabilities that each kind of process keeps. Searching folders lets it import from another user's home."""
_VERSION_3 = 0x20080522


def keep_capabilities(kept: int) -> None:
    """Permanently drop all capabilities except `kept`. Raises `OSError` if that fails."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: the lower 32 bits, then the upper 32
    libc.capget(header, sets)
    kept &= sets[1]
    if libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def refuse_calls(lines: list[Line]) -> None:
    """Permanently refuse system calls to this process and its forks, by the filter `lines`; none if it is empty."""
    if lines:
        Filter(lines).install()
