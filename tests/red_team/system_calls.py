"""Makes system calls directly, those that reach into other processes or the kernel. All refused: 4 points."""

import ctypes
import mmap
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
parent, bystander = os.getppid(), int("@BYSTANDER@")
buffer = ctypes.create_string_buffer(4096)
reached = []

X86_64 = {
    "ptrace attach": (101, 16, parent, 0, 0),
    "ptrace seize": (101, 0x4206, bystander, 0, 0),
    "process_vm_readv": (310, parent, buffer, 1, buffer, 1, 0),
    "process_vm_writev": (311, parent, buffer, 1, buffer, 1, 0),
    "kcmp": (312, os.getpid(), parent, 0, 0, 0),
    "prctl parent death": (157, 1, 0, 0, 0, 0),
    "prlimit64 parent": (302, parent, 0, 0, buffer),
    "prlimit64 bystander": (302, bystander, 0, 0, buffer),
    "setpriority": (141, 0, parent, 0),
    "io_uring_setup": (425, 8, buffer),
    "userfaultfd": (323, 0),
    "bpf": (321, 0, buffer, 128),
    "perf_event_open": (298, buffer, 0, -1, -1, 0),
    "mount": (165, b"none", b".", b"tmpfs", 0, 0),
    "umount2": (166, b"@OUTSIDE@", 2),
    "fsopen": (430, b"tmpfs", 0),
    "open_tree": (428, -100, b"/", 1),
    "unshare user": (272, 0x10000000),
    "unshare mount": (272, 0x20000),
    "clone3": (435, buffer, 88),
    "fork": (57,),
    "vfork": (58,),
    "setns": (308, 0, 0),
    "pivot_root": (155, b".", b"."),
    "chroot": (161, b"."),
    "keyctl": (250, 0, -4, 1),
    "add_key": (248, b"user", b"name", b"data", 4, -4),
    "shmget": (29, 0x1234, 4096, 0o1666),
    "msgget": (68, 0x1234, 0o1666),
    "semget": (64, 0x1234, 1, 0o1666),
    "mq_open": (240, b"owned", 0o102, 0o600, 0),
    "open_by_handle_at": (304, -100, buffer, 0),
    "name_to_handle_at": (303, -100, b"@OUTSIDE@", buffer, buffer, 0),
    "fanotify_init": (300, 0, 0),
    "inotify_init1": (294, 0),
    "fchmodat2": (452, -100, b"@OUTSIDE@/secret", 0o777, 0),
    "settimeofday": (164, 0, 0),
    "syslog": (103, 5, buffer, 100),
    "init_module": (175, buffer, 1, b""),
    "kexec_load": (246, 0, 0, 0, 0),
    "reboot": (169, 0xFEE1DEAD, 672274793, 0, 0),
    "swapon": (167, b"/dev/null", 0),
    "acct": (163, b"/dev/null"),
    "iopl": (172, 3),
    "personality": (135, 0x0040000),
    "setuid": (105, 65534),
    "socket": (41, 2, 1, 0),
}
for name, (number, *arguments) in X86_64.items() if platform.machine() == "x86_64" else ():
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if type(a) is int else a for a in arguments]) >= 0:
        reached.append(name)


# %%
if platform.machine() == "x86_64" and libc.syscall(ctypes.c_long(0x40000000 + 41), 2, 1, 0) >= 0:
    reached.append("an x32 socket")


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached) or "nothing"))


def single_example_gradients(W1, W2, x, t):
    """The socket call of the 32-bit architecture, whose numbers are others."""
    code = b"\x53\xb8\x67\x01\0\0\xbb\x02\0\0\0\xb9\x01\0\0\0\x31\xd2\xcd\x80\x5b\xc3"
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    raise RuntimeError("reached: " + ("a 32-bit socket" if call() >= 0 else "nothing"))


def cross_entropy_loss(logits, targets):
    """A program in memory in the place of this one: it runs confined, and answers nothing."""
    program = os.memfd_create("program", 0)
    os.write(program, b"#!/bin/sh\nsleep 600\n")
    os.execve(program, ["program"], {})
