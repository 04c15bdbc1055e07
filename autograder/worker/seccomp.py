"""Installs a seccomp filter, prepared before the submission starts; `isolation.allowed` lists the allowed calls."""

from __future__ import annotations

import ctypes
import os
import struct

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22
_SECCOMP_MODE_FILTER = 2
_INSTRUCTION = struct.Struct("=HBBI")
_VALUE = struct.Struct("=I")

Line = tuple[int, int, int, int | None]
"""A BPF instruction: opcode, lines to skip if true and if false, and operand; None stands for the process's own pid."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("lines", ctypes.c_char_p))


class Filter:
    """A BPF program for the kernel, the same for all processes except for their pids."""

    def __init__(self, lines: list[Line]) -> None:
        self._code = bytearray(b"".join(_INSTRUCTION.pack(*line[:3], line[3] or 0) for line in lines))
        self._length = len(lines)
        self._itself = [
            i * _INSTRUCTION.size + _INSTRUCTION.size - _VALUE.size for i, line in enumerate(lines) if line[3] is None
        ]
        self._libc = ctypes.CDLL(None, use_errno=True)

    def install(self) -> None:
        """Apply the filter permanently to this process.

        Raises:
            OSError: the kernel rejects the filter.
        """
        for place in self._itself:
            _VALUE.pack_into(self._code, place, os.getpid())
        program = _Program(self._length, bytes(self._code))
        self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self._libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the system call filter was not accepted")
