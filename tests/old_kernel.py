"""Runs a command under a kernel that knows an older Landlock: `python old_kernel.py ABI COMMAND...`.

The real kernel asks this process (seccomp's user notification) what to answer to `landlock_create_ruleset`: which
version it is, and that it does not know what came later; with 0, that it has no Landlock. All else is its own.
"""

from __future__ import annotations

import array
import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
import sys

CREATE_RULESET, SECCOMP = 444, {"x86_64": 317, "aarch64": 277}.get(platform.machine(), 0)
PR_SET_NO_NEW_PRIVS, SET_MODE_FILTER, NEW_LISTENER = 38, 1, 1 << 3
RECEIVE, SEND, GO_ON = 0xC0502100, 0xC0182101, 1
LINES = [(0x20, 0, 0, 0), (0x15, 0, 1, CREATE_RULESET), (0x06, 0, 0, 0x7FC00000), (0x06, 0, 0, 0x7FFF0000)]
"""Load the call's number; that one is for the listener, all others are allowed."""
TELL_VERSION = 1


def main(abi: int, command: list[str]) -> int:
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        socket.send_fds(theirs, [b"x"], [listener()])
        ours.close()
        theirs.close()
        os.execvp(command[0], command)
    theirs.close()
    _, (asked,), _, _ = socket.recv_fds(ours, 1, 1)
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if select.select([asked], [], [], 0.05)[0]:
            answer(asked, abi)
    return os.waitstatus_to_exitcode(ended[1])


def listener() -> int:
    """Install the filter on this process; the descriptor on which its calls are announced. Closed by `exec`."""
    libc = ctypes.CDLL(None, use_errno=True)
    lines = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in LINES))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(LINES), ctypes.addressof(lines)))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    found = libc.syscall(SECCOMP, SET_MODE_FILTER, NEW_LISTENER, program)
    if found < 0:
        raise OSError(ctypes.get_errno(), "no listener")
    return int(found)


def answer(asked: int, abi: int) -> None:
    """Answer one call as a kernel with this version does."""
    call = array.array("B", bytes(80))
    try:
        fcntl.ioctl(asked, RECEIVE, call)
    except OSError:  # whoever called has ended
        return
    number, pid = struct.unpack_from("=QI", call)
    attributes, size, flags = struct.unpack_from("=QQQ", call, 32)
    value, error, how = 0, 0, GO_ON
    if abi == 0:
        error, how = -errno.ENOSYS, 0
    elif flags == TELL_VERSION:
        value, how = abi, 0
    elif not known(pid, attributes, min(size, 24), abi):
        error, how = -errno.EINVAL, 0
    try:
        fcntl.ioctl(asked, SEND, struct.pack("=QqiI", number, value, error, how))
    except OSError:
        return


def known(pid: int, attributes: int, size: int, abi: int) -> bool:
    """Whether a kernel of this version knows all that a ruleset names."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(attributes)
        files, network, scopes = struct.unpack("=QQQ", memory.read(size).ljust(24, b"\0"))
    rights = (1 << 13) - 1 | (1 << 13) * (abi >= 2) | (1 << 14) * (abi >= 3) | (1 << 15) * (abi >= 5)
    return not (files & ~rights or (network and abi < 4) or (scopes and abi < 6))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
