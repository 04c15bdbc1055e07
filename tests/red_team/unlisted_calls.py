"""Makes system calls that nothing here needs, old ones and the newest. Not one is carried out: 4 points."""

import contextlib
import ctypes
import errno
import fcntl
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(4096)
reached = []


def attempt(name, number, *arguments):
    """An answer is one, and so is every error but that of a call that is refused or lacking."""
    wide = [ctypes.c_long(a) if type(a) is int else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *wide) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        reached.append(name)


X86_64 = {
    "mincore": (27, 0, 4096, buffer),
    "sendmsg": (46, 0, buffer, 0),
    "capget": (125, buffer, buffer),
    "mlock": (149, buffer, 4096),
    "mlockall": (151, 1),
    "readahead": (187, 0, 0, 1),
    "remap_file_pages": (216, 0, 0, 0, 0, 0),
    "fadvise64": (221, 0, 0, 0, 4),
    "set_mempolicy": (238, 0, 0, 0),
    "get_mempolicy": (239, buffer, 0, 0, 0, 0),
    "ioprio_get": (252, 1, 0),
    "inotify_init": (253,),
    "splice": (275, 0, 0, 0, 0, 1, 0),
    "vmsplice": (278, 0, 0, 0, 0),
    "signalfd4": (289, -1, buffer, 8, 0),
    "eventfd2": (290, 0, 0),
    "syncfs": (306, 0),
    "sync": (162,),
    "pkey_alloc": (330, 0, 0),
    "io_uring_setup": (425, 8, buffer),
    "pidfd_open": (434, os.getpid(), 0),
    "landlock_create_ruleset": (444, 0, 0, 1),
    "memfd_secret": (447, 0),
    "cachestat": (451, 0, buffer, buffer, 0),
    "map_shadow_stack": (453, 0, 4096, 0),
    "futex_wake": (454, buffer, 1, 1, 2),
    "lsm_list_modules": (461, buffer, buffer, 0),
    "the next one": (490,),
}
PRCTL = {
    "PR_SET_PDEATHSIG": (1, 0),
    "PR_GET_DUMPABLE": (3, 0),
    "PR_SET_DUMPABLE": (4, 0),
    "PR_SET_DUMPABLE again": (4, 1),
    "PR_SET_KEEPCAPS": (8, 1),
    "PR_SET_TIMERSLACK": (29, 1),
    "PR_MCE_KILL": (33, 0),
    "PR_SET_CHILD_SUBREAPER": (36, 1),
    "PR_SET_THP_DISABLE": (41, 1),
    "PR_SET_SPECULATION_CTRL": (53, 0),
    "PR_SCHED_CORE": (62, 0),
    "PR_SET_VMA": (0x53564D41, 0),
}
for name, arguments in X86_64.items() if platform.machine() == "x86_64" else ():
    attempt(name, *arguments)
for name, (option, value) in PRCTL.items():
    ctypes.set_errno(0)
    if libc.prctl(option, value, 0, 0, 0) >= 0 or ctypes.get_errno() != errno.EPERM:
        reached.append(name)
with contextlib.suppress(OSError):
    fcntl.fcntl(os.open(os.devnull, os.O_RDWR), 1031, 2**20)
    reached.append("the size of a pipe")
for request in (1032, 1033, 1034, 1035, 1036, 9, 10, 11, 16):  # sizes, seals, hints, owners and their signals
    with contextlib.suppress(PermissionError):
        with contextlib.suppress(OSError):
            fcntl.fcntl(0, request, 0)
            reached.append(f"fcntl {request}")


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
