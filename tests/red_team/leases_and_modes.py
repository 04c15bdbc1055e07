"""Files of others, opened for nothing, leased, locked and marked; memory and sockets without a name. None: 4 points."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import socket
import tabnanny

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
reached = []


def attempt(name, action):
    with contextlib.suppress(BaseException):
        if action() is not False:
            reached.append(name)


def control(path, request):
    descriptor, data = os.open(path, os.O_RDONLY), bytearray(8)
    fcntl.ioctl(descriptor, 0x80087601 if request == 0x40087602 else 0x80086601, data)
    fcntl.ioctl(descriptor, request, data)


def lease(path, kind):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, kind)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    finally:
        os.close(descriptor)


def keep_memory():
    for _ in range(8):
        memory = os.memfd_create("kept")
        os.write(memory, bytes(2**20))
        mmap.mmap(memory, 4096)
        os.close(memory)


OTHERS = ("@OUTSIDE@/secret", "@CLASS@/honest_all/ch07_mlp_backprop.py", "@REPOSITORY@/SECURITY.md")
for path in OTHERS:
    for flags in (3, 3 | os.O_TRUNC, 3 | os.O_CREAT, 3 | os.O_NOFOLLOW):
        attempt(f"open {path} {flags:o}", lambda: os.open(path, flags))
for path in ("/dev/zero", "/dev/ptmx", "/dev/kvm", "/proc/self/mem"):
    attempt(f"open {path}", lambda: os.open(path, 3))
LIBRARY = os.path.realpath(tabnanny.__file__)  # which nobody waits for, should it be held
for path in (LIBRARY, os.path.dirname(LIBRARY)):
    attempt(f"lease {path}", lambda: lease(path, fcntl.F_WRLCK))
    attempt(f"share {path}", lambda: lease(path, fcntl.F_RDLCK))
    attempt(f"notify {path}", lambda: fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS))
    attempt(f"lock {path}", lambda: fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB))
for path in (LIBRARY, "."):
    attempt(f"version of {path}", lambda: control(path, 0x40087602))
    attempt(f"flags of {path}", lambda: control(path, 0x40086602))
attempt("memory", keep_memory)
for family in (socket.AF_INET, socket.AF_INET6, 16, 30, 40):
    with contextlib.suppress(PermissionError):
        try:
            socket.socketpair(family, socket.SOCK_STREAM)
        except OSError as error:
            if not isinstance(error, PermissionError):
                reached.append(f"family {family}: {error}")


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
