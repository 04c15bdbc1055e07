"""Leaves queues, keys, segments, files and sockets for those who are graded after it. None is made: 4 points."""

import contextlib
import ctypes
import os
import platform
import socket
import stat

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
reached = []


def attempt(name, action):
    with contextlib.suppress(BaseException):
        action()
        reached.append(name)


def call(*arguments):
    wide = [ctypes.c_long(a) if type(a) is int else a for a in arguments]
    if libc.syscall(*wide) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))


X86_64 = {
    "mq_open": (240, b"backprop-red-team", 0o102, 0o600, 0),
    "mq_open again": (240, b"backprop-red-team", 0, 0, 0),
    "mq_unlink": (241, b"backprop-red-team"),
    "shmget": (29, 0xBAC, 4096, 0o1666),
    "semget": (64, 0xBAC, 1, 0o1666),
    "msgget": (68, 0xBAC, 0o1666),
    "add_key to the user": (248, b"user", b"backprop-red-team", b"data", 4, -4),
    "add_key to the session": (248, b"user", b"backprop-red-team", b"data", 4, -3),
    "request_key": (249, b"user", b"backprop-red-team", 0, -4),
    "join a session of keys": (250, 1, b"backprop-red-team"),
    "memory of its own name": (279, os.getppid(), 0, 0, 0, 0, 0),
}
for name, arguments in X86_64.items() if platform.machine() == "x86_64" else ():
    attempt(name, lambda: call(*arguments))
PATHS = ("../left", "../../left", "/dev/shm/backprop-red-team", "/dev/mqueue/backprop-red-team", "/tmp/backprop-red-team")
for path in (*PATHS, "/run/backprop-red-team", "/var/tmp/backprop-red-team", os.path.expanduser("~root/.backprop-red")):
    attempt(path, lambda: create(path))
    attempt(f"folder {path}", lambda: os.mkdir(path))
    attempt(f"fifo {path}", lambda: os.mkfifo(path))
    attempt(f"link {path}", lambda: os.symlink("/", path))
    attempt(f"socket {path}", lambda: os.mknod(path, stat.S_IFSOCK | 0o600))
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    attempt(f"pair {kind}", lambda: socket.socketpair(socket.AF_UNIX, kind)[0].bind("\0backprop-red-team"))
create("in its own folder")
with contextlib.suppress(PermissionError):
    os.mkfifo("a fifo")
os.symlink("/", "everything")
os.chdir("/")


def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
