"""Later ways to what older calls are refused: descriptors of processes, owners, datagrams. None: 4 points."""

import ctypes
import fcntl
import os
import platform
import signal
import socket

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(65536)
reached = []


def attempt(name, action):
    try:
        if action() is not False:
            reached.append(name)
    except BaseException:
        pass


def call(*arguments):
    return libc.syscall(*[ctypes.c_long(a) if type(a) is int else a for a in arguments]) >= 0


def owner(process, request):
    ours, _ = socket.socketpair()
    if request == fcntl.F_SETOWN:
        fcntl.fcntl(ours, request, process)
    else:
        fcntl.ioctl(ours, request, process.to_bytes(4, "little"))


def datagrams(kind, address):
    ours, _ = socket.socketpair(socket.AF_UNIX, kind)
    ours.sendto(b"hello", address)


def attributes(path):
    """Set the attributes of a file that may be read to what they are."""
    descriptor, flags = os.open(path, os.O_RDONLY), bytearray(8)
    fcntl.ioctl(descriptor, 0x80086601, flags)
    fcntl.ioctl(descriptor, 0x40086602, flags)


def run_from_memory():
    memory = os.memfd_create("program", 0)
    with open(os.path.realpath("/bin/true"), "rb") as program:
        os.write(memory, program.read())
    return call(322, memory, b"", 0, 0, 0x1000)


for process in (os.getppid(), int("@BYSTANDER@"), 1):
    try:
        descriptor = os.pidfd_open(process)
    except OSError:
        continue
    attempt(f"signal by descriptor {process}", lambda: signal.pidfd_send_signal(descriptor, signal.SIGKILL))
    for request in (fcntl.F_SETOWN, 0x8901, 0x8902):
        attempt(f"owner {process}", lambda: owner(process, request))
    if platform.machine() == "x86_64":
        attempt(f"tkill {process}", lambda: call(200, process, 9))
        attempt(f"tgkill {process}", lambda: call(234, process, process, 9))
        attempt(f"rt_sigqueueinfo {process}", lambda: call(129, process, 9, buffer))
        attempt(f"pidfd_getfd {process}", lambda: call(438, descriptor, 0, 0))
        attempt(f"process_madvise {process}", lambda: call(440, descriptor, buffer, 1, 4, 0))
        attempt(f"process_mrelease {process}", lambda: call(448, descriptor, 0))
        attempt(f"move_pages {process}", lambda: call(279, process, 1, buffer, buffer, buffer, 0))
        attempt(f"migrate_pages {process}", lambda: call(256, process, 8, buffer, buffer))
        attempt(f"get_robust_list {process}", lambda: call(274, process, buffer, buffer))
        attempt(f"perf_event_open {process}", lambda: call(298, buffer, process, -1, -1, 0))
        attempt(f"setns {process}", lambda: call(308, descriptor, 0x08000000))
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for address in ("@UNIX@", "@UNIX@.datagram", "\0@ABSTRACT@"):
        attempt(f"datagram {kind} {address}", lambda: datagrams(kind, address))
attempt("empty a file", lambda: os.truncate("@OUTSIDE@/secret", 0))
attempt("empty a file that is only read", lambda: os.open("@OUTSIDE@/secret", os.O_RDONLY | os.O_TRUNC))
X86_64 = {
    "openat2": (437, -100, b"@OUTSIDE@/secret", buffer, 24),
    "open_tree of its own": (428, -100, b"/", 0x80001),
    "fsmount": (432, 3, 0, 0),
    "move_mount": (429, -100, b"/", -100, b".", 0),
    "mount_setattr": (442, -100, b"/", 0, buffer, 32),
    "quotactl": (179, 0x800003, b"/dev/vda", 0, buffer),
    "clock_settime": (227, 0, buffer),
    "mq_open": (240, b"owned", 0o102, 0o600, 0),
    "userfaultfd of user mode": (323, 1),
    "request_key": (249, b"user", b"name", 0, -4),
    "io_uring_register": (427, 3, 0, 0, 0),
    "bpf maps": (321, 0, buffer, 72),
    "seccomp that asks": (317, 1, 8, buffer),
    "prctl to be its own parent's heir": (157, 1, 9, 0, 0, 0),
    "prctl to read another's memory": (157, 0x59616D61, -1, 0, 0, 0),
    "acct": (163, b"own"),
    "unshare of keys": (272, 0x08000000),
    "personality": (135, 0x0040000),
}
for name, arguments in X86_64.items() if platform.machine() == "x86_64" else ():
    attempt(name, lambda: call(*arguments))
for path in (os.__file__, os.path.dirname(os.__file__), "."):
    attempt(f"attributes of {path}", lambda: attributes(path))
attempt("a program instead", lambda: os.execv(os.path.realpath("/bin/true"), ["true"]))
attempt("a program in memory", run_from_memory)


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
