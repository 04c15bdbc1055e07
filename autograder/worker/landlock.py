"""What sandlock does not do for a process that runs already: walls on older kernels, and one against TCP.

It raises a wall of files, signals and abstract sockets with all that Landlock ABI 6 knows, or not at all. Ours is of
files only; ptrace is refused across any wall.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same numbers on every architecture."""
_RULE_BENEATH_PATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_KNOWN = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
"""By the ABI that brought them: what can be refused."""
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def restrict_files(readable: list[str], writable: list[str], abi: int) -> None:
    """Refuse this process, for good, all files but these, and to trace what runs outside of this wall.

    Raises:
        OSError: the kernel does not take the rules, or a path cannot be opened.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    known = sum(rights for since, rights in _KNOWN.items() if since <= abi)
    ruleset = _checked(libc, _CREATE_RULESET, struct.pack("=Q", known), ctypes.c_size_t(8), 0)
    try:
        for paths, rights in ((readable, _READ), (writable, known)):
            for path in paths:
                _allow(libc, ruleset, path, rights & known)
        _restrict(libc, ruleset)
    finally:
        os.close(ruleset)


def refuse_tcp() -> None:
    """Refuse this process, for good, to open and to accept TCP connections: from Landlock ABI 4 on.

    Raises:
        OSError: the kernel does not take the rule.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    ruleset = _checked(libc, _CREATE_RULESET, struct.pack("=QQ", 0, _BIND_TCP | _CONNECT_TCP), ctypes.c_size_t(16), 0)
    try:
        _restrict(libc, ruleset)
    finally:
        os.close(ruleset)


def _restrict(libc: ctypes.CDLL, ruleset: int) -> None:
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _checked(libc, _RESTRICT_SELF, ruleset, 0)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:  # the wall around the worker has been raised without it, too
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        _checked(libc, _ADD_RULE, ruleset, _RULE_BENEATH_PATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _checked(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    answer = int(libc.syscall(ctypes.c_long(number), *arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"Landlock refused: {os.strerror(ctypes.get_errno())}")
    return answer
