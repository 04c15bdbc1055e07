"""Confines this process with Landlock, using every right that the kernel's Landlock version supports.

The numbers are from https://docs.kernel.org/userspace-api/landlock.html. The system call filter refuses whatever a
version cannot; ptrace out of a Landlock domain is refused in all versions.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys

FULL_ABI = 6
"""The first version with all rights that we use: Linux 6.12."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same numbers on every architecture."""
_TELL_VERSION = 1
_RULE_BENEATH_PATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

_FILES = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
_NETWORK = {4: _BIND_TCP | _CONNECT_TCP}
_SCOPES = {6: _ABSTRACT_SOCKETS | _SIGNALS}
"""Rights that can be refused, by the version that introduced them."""


def landlock_abi() -> int:
    """The kernel's Landlock version; -1 if it has none."""
    if sys.platform != "linux":
        return -1
    return int(_libc().syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), _TELL_VERSION))


def restrict(readable: list[str], writable: list[str], abi: int) -> None:
    """Confine this process permanently to a Landlock domain.

    It refuses all files except these, TCP, device ioctls, and signals, abstract sockets and ptrace to processes outside
    the domain, each if the version supports it.

    Args:
        readable: files, and folders with their contents, that may be read and executed.
        writable: files and folders that may also be written.
        abi: the Landlock version to use, at most the kernel's.

    Raises:
        OSError: the kernel rejects the rules, or a path cannot be opened.
    """
    libc = _libc()
    files, network, scopes = (_known(by_version, abi) for by_version in (_FILES, _NETWORK, _SCOPES))
    handled = struct.pack("=QQQ", files, network, scopes)
    size = 8 * (1 + bool(network) + bool(scopes))  # older kernels reject a longer struct
    ruleset = _checked(libc, _CREATE_RULESET, handled, ctypes.c_size_t(size), 0)
    try:
        for paths, rights in ((readable, _READ), (writable, files)):
            for path in paths:
                _allow(libc, ruleset, path, rights & files)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _checked(libc, _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _known(by_version: dict[int, int], abi: int) -> int:
    return sum(rights for since, rights in by_version.items() if since <= abi)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:  # the worker's own domain was made without it, too
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        _checked(libc, _ADD_RULE, ruleset, _RULE_BENEATH_PATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _checked(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    answer = int(libc.syscall(ctypes.c_long(number), *arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"Landlock refused: {os.strerror(ctypes.get_errno())}")
    return answer
