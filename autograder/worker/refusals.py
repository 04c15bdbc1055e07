"""A system call filter for one submission, against what Landlock and the sandbox's own filter let through.

Linux on x86-64 and arm64: seccomp knows calls by their number only, and each architecture has its own.
"""

from __future__ import annotations

import ctypes
import errno
import platform

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_LOAD, _SKIP_IF_EQUAL, _SKIP_IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in the kernel's `struct seccomp_data`; of the argument, its lower half."""
_X32 = 0x40000000
"""From here on x86-64 has other numbers for the same calls."""

CALLS = {
    "x86_64": (0xC000003E, {"socket": 41, "prctl": 157, "prlimit64": 302}),
    "aarch64": (0xC00000B7, {"socket": 198, "prctl": 167, "prlimit64": 261}),
}
"""By machine: the kernel's mark of the architecture, and the numbers of its calls."""

_Line = tuple[int, int, int, int]
"""An instruction: what to do, the lines to skip if so and if not, a value or an offset."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_so", ctypes.c_uint8),
        ("if_not", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("lines", ctypes.POINTER(_Instruction)))


def refuse_calls() -> None:
    """Refuse this process three things for good: sockets, the limits of other processes, and to outlive its parent.

    Sockets, because Landlock's rules hold for plain TCP: not for MPTCP, nor where a send opens the connection.

    Raises:
        OSError: the kernel does not take the filter.
    """
    lines = _filter(platform.machine())
    program = _Program(len(lines), (_Instruction * len(lines))(*(_Instruction(*line) for line in lines)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the system call filter was not accepted")


def _filter(machine: str) -> list[_Line]:
    architecture, numbers = CALLS[machine]
    load_number = (_LOAD, 0, 0, _NUMBER)
    load_argument = (_LOAD, 0, 0, _FIRST_ARGUMENT)
    refuse = (_RETURN, 0, 0, _REFUSE)
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_SKIP_IF_EQUAL, 1, 0, architecture),
        refuse,
        load_number,
        (_SKIP_IF_AT_LEAST, 0, 1, _X32),
        refuse,
        (_SKIP_IF_EQUAL, 0, 1, numbers["socket"]),
        refuse,
        (_SKIP_IF_EQUAL, 0, 3, numbers["prctl"]),
        load_argument,
        (_SKIP_IF_EQUAL, 0, 1, _PR_SET_PDEATHSIG),
        refuse,
        load_number,
        (_SKIP_IF_EQUAL, 0, 3, numbers["prlimit64"]),
        load_argument,
        (_SKIP_IF_EQUAL, 1, 0, 0),  # process 0 is the caller
        refuse,
        (_RETURN, 0, 0, _ALLOW),
    ]
