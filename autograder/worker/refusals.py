"""A system call filter for one submission, against what Landlock and the sandbox's own filter let through.

Linux on x86-64 and arm64: seccomp knows calls by their number only, and each architecture has its own.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from dataclasses import dataclass

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_F_SETOWN, _F_SETOWN_EX = 8, 15
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
_SOCK_STREAM, _SOCK_TYPE = 1, 0xF
_HOW_OPENED = os.O_ACCMODE | os.O_TRUNC
_LOAD, _AND, _SKIP_IF_EQUAL, _SKIP_IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's `struct seccomp_data`; of the arguments, 8 bytes each, the lower half comes first."""
_X32 = 0x40000000
"""From here on x86-64 has other numbers for the same calls."""

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""By machine: the kernel's mark of the architecture."""

_Line = tuple[int, int, int, int]
"""An instruction: what to do, the lines to skip if so and if not, a value or an offset."""


@dataclass(frozen=True)
class Refusal:
    """A system call that is refused: always, for some values of an argument, or for all others."""

    x86_64: int | None
    aarch64: int | None
    """Its number by machine; None where there is no such call."""
    argument: int | None = None
    values: tuple[int, ...] = ()
    only: bool = False
    """Whether the values are the only ones that are let through."""
    mask: int = 0xFFFFFFFF
    """The bits of the argument that count."""

    def lines(self, machine: str) -> list[_Line]:
        """Refuse, or fall through with the call's number loaded."""
        refuse = (_RETURN, 0, 0, _REFUSE)
        number = {"x86_64": self.x86_64, "aarch64": self.aarch64}[machine]
        if number is None:
            return []
        if self.argument is None:
            return [(_SKIP_IF_EQUAL, 0, 1, number), refuse]
        last = len(self.values) - 1
        tests = [
            (_SKIP_IF_EQUAL, last - i + self.only, 0 if i < last or self.only else 1, value)
            for i, value in enumerate(self.values)
        ]
        load = [(_LOAD, 0, 0, _ARGUMENTS + 8 * self.argument), (_AND, 0, 0, self.mask)]
        inner = [*load, *tests, refuse, (_LOAD, 0, 0, _NUMBER)]
        return [(_SKIP_IF_EQUAL, 0, len(inner), number), *inner]


def refusals(process: int) -> tuple[Refusal, ...]:
    """What a submission that runs as `process` may not do, whichever version of Landlock the kernel has."""
    return (
        # Sockets: Landlock's rules hold for plain TCP, not for MPTCP, nor where a send opens the connection.
        Refusal(41, 198),  # socket
        Refusal(53, 199, 1, (_SOCK_STREAM,), only=True, mask=_SOCK_TYPE),  # socketpair: one of datagrams reaches others
        Refusal(157, 167, 0, (_PR_SET_PDEATHSIG,)),  # prctl: to outlive its parent
        Refusal(302, 261, 0, (0,), only=True),  # prlimit64: the limits of other processes
        # Signals to others: Landlock refuses them from ABI 6 on.
        Refusal(62, 129, 0, (process,), only=True),  # kill
        Refusal(234, 131, 0, (process,), only=True),  # tgkill
        Refusal(200, 130),  # tkill
        Refusal(129, 138, 0, (process,), only=True),  # rt_sigqueueinfo
        Refusal(297, 240, 0, (process,), only=True),  # rt_tgsigqueueinfo
        Refusal(424, 424),  # pidfd_send_signal
        Refusal(72, 25, 1, (_F_SETOWN, _F_SETOWN_EX)),  # fcntl: signals that a descriptor sends
        Refusal(16, 29, 1, (_FIOSETOWN, _SIOCSPGRP)),  # ioctl, the same
        # To empty files that may only be read, or not even that: Landlock refuses it from ABI 3 on.
        Refusal(76, 45),  # truncate
        Refusal(2, None, 1, (os.O_TRUNC,), mask=_HOW_OPENED),  # open
        Refusal(257, 56, 2, (os.O_TRUNC,), mask=_HOW_OPENED),  # openat
        Refusal(437, 437),  # openat2, whose flags a filter cannot see
    )


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
    """Refuse this process for good: sockets, to signal or limit other processes, and to outlive its parent.

    Raises:
        OSError: the kernel does not take the filter.
    """
    lines = _filter(platform.machine(), os.getpid())
    program = _Program(len(lines), (_Instruction * len(lines))(*(_Instruction(*line) for line in lines)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the system call filter was not accepted")


def _filter(machine: str, process: int) -> list[_Line]:
    refuse = (_RETURN, 0, 0, _REFUSE)
    lines: list[_Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_SKIP_IF_EQUAL, 1, 0, ARCHITECTURES[machine]),
        refuse,
        (_LOAD, 0, 0, _NUMBER),
        (_SKIP_IF_AT_LEAST, 0, 1, _X32),
        refuse,
    ]
    for refusal in refusals(process):
        lines += refusal.lines(machine)
    return [*lines, (_RETURN, 0, 0, _ALLOW)]
