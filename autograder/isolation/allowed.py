"""The system calls that a submission may make: all others are refused.

What Python, NumPy, PyTorch and the C library need to compute, to write files of their own and to start threads. What
is refused gets the error of a call that is not permitted, or, where the C library then takes another way, of one that
the kernel lacks. For x86-64 and arm64: seccomp knows calls by their number only, and each architecture has its own.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass

from system_calls import NotSupportedSystemCall, syscalls

from autograder.worker.seccomp import Line

_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE, _SOL_SOCKET = 1, 1, 0xF, 1
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_DUPFD_CLOEXEC = 0, 1, 2, 3, 4, 1030
_TCGETS, _TCGETS2, _TIOCGWINSZ = 0x5401, 0x802C542A, 0x5413
_FIONREAD, _FIONBIO, _FIOCLEX, _FIONCLEX = 0x541B, 0x5421, 0x5451, 0x5450
_CLONE_THREAD, _CLONE_FILES, _CLONE_NEW = 0x00010000, 0x00000400, 0x7E020000
_THREAD = _CLONE_THREAD | _CLONE_FILES
"""As the C library makes one; with files of its own it would have a limit of its own."""
_HOW_OPENED = os.O_ACCMODE | os.O_TRUNC
_OPENED = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC)
"""Landlock says which files. To empty one that is only read it refuses from ABI 3 on, to hold one for neither never."""
_ADVICE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 102, 103)
"""On memory: how it is read, to free it, its page sizes, guards around stacks. Not to share or to poison pages."""
_FUTEX_OPERATION = 0x7F
_FUTEX = (0, 1, 3, 4, 5, 9, 10)
"""To wait and to wake; not to inherit priorities, which nothing here needs and the kernel often got wrong."""
_XCOMP = (0x1021, 0x1022, 0x1023)
"""To ask for the processor's matrix unit, which PyTorch uses."""
_LOAD, _AND, _SKIP_IF_EQUAL, _SKIP_IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's `struct seccomp_data`; of the arguments, 8 bytes each, the lower half comes first."""
_X32 = 0x40000000
"""From here on x86-64 has other numbers for the same calls."""

ARCHITECTURES = {"x86_64": ("x86_64", 0xC000003E), "aarch64": ("arm64", 0xC00000B7)}
"""By machine: the architecture in the table of calls, and the kernel's mark of it."""
_ITSELF = None
"""As a value: the process that the filter is for."""
_REFUSE: Line = (_RETURN, 0, 0, _ERROR | errno.EPERM)


@dataclass(frozen=True)
class Condition:
    """What an argument must be, the first being 0: one of the values, in the bits of the mask."""

    argument: int
    values: tuple[int | None, ...]
    mask: int = 0xFFFFFFFF

    def lines(self) -> list[Line]:
        """Fall through where it holds, refuse the call where it does not."""
        count = len(self.values)
        tests: list[Line] = [(_SKIP_IF_EQUAL, count - i, 0, value) for i, value in enumerate(self.values)]
        return [(_LOAD, 0, 0, _ARGUMENTS + 8 * self.argument), (_AND, 0, 0, self.mask), *tests, _REFUSE]


@dataclass(frozen=True)
class Allowed:
    """A system call that is allowed where all the conditions hold."""

    name: str
    conditions: tuple[Condition, ...] = ()

    def lines(self, number: int) -> list[Line]:
        """Decide on the call of this number; fall through, with the number loaded, for any other."""
        inner: list[Line] = [line for condition in self.conditions for line in condition.lines()]
        inner.append((_RETURN, 0, 0, _ALLOW))
        return [(_SKIP_IF_EQUAL, 0, len(inner), number), *inner]


def _only(name: str, argument: int, *values: int | None, mask: int = 0xFFFFFFFF) -> Allowed:
    return Allowed(name, (Condition(argument, values, mask),))


ALLOWED = (
    # By their arguments. These come first: the kernel looks the others up in a table of its own.
    _only("openat", 2, *_OPENED, mask=_HOW_OPENED),
    _only("open", 1, *_OPENED, mask=_HOW_OPENED),
    # No more than Python does with a stream, which may be a device, a terminal or a file of others.
    _only("ioctl", 1, _TCGETS, _TCGETS2, _TIOCGWINSZ, _FIONREAD, _FIONBIO, _FIOCLEX, _FIONCLEX),
    # No locks, leases, owners and news: others would meet them.
    _only("fcntl", 1, _F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_DUPFD_CLOEXEC),
    _only("futex", 1, *_FUTEX, mask=_FUTEX_OPERATION),
    _only("madvise", 2, *_ADVICE),
    _only("clone", 0, _THREAD, mask=_THREAD | _CLONE_NEW),
    # Another family loads its protocol into the kernel, a pair of datagrams reaches others.
    Allowed("socketpair", (Condition(0, (_AF_UNIX,)), Condition(1, (_SOCK_STREAM,), _SOCK_TYPE))),
    _only("getsockopt", 1, _SOL_SOCKET),
    _only("prctl", 0, _PR_SET_NAME, _PR_GET_NAME),
    _only("arch_prctl", 0, *_XCOMP),
    *(_only(name, 0, _ITSELF) for name in ("kill", "tgkill")),
    _only("prlimit64", 0, 0),
    _only("fallocate", 1, 0),  # else it takes blocks beyond the end of a file, which no limit of sizes counts
    # Memory.
    *map(Allowed, ("mmap", "munmap", "mprotect", "mremap", "msync", "brk")),
    # Streams and files that are open; Landlock says which can be.
    *map(Allowed, ("read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2")),
    *map(Allowed, ("pwritev2", "lseek", "close", "close_range", "dup", "dup2", "dup3", "ftruncate")),
    *map(Allowed, ("fsync", "fdatasync", "sendfile", "copy_file_range", "pipe", "pipe2")),
    *map(Allowed, ("select", "pselect6", "poll", "ppoll", "epoll_create", "epoll_create1", "epoll_ctl")),
    *map(Allowed, ("epoll_wait", "epoll_pwait", "epoll_pwait2")),
    # A connected pair, and no address: not to bind, to connect, to pass descriptors on.
    *map(Allowed, ("sendto", "recvfrom", "shutdown", "getsockname")),
    # Names and folders; not how full a file system is, nor the machine (`sysinfo`): neighbours could talk by that.
    *map(Allowed, ("stat", "lstat", "fstat", "newfstatat", "statx")),
    *map(Allowed, ("access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd")),
    *map(Allowed, ("chdir", "fchdir", "umask", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename")),
    *map(Allowed, ("renameat", "renameat2", "link", "linkat", "symlink", "symlinkat")),
    # Threads and signals of its own.
    *map(Allowed, ("set_robust_list", "set_tid_address", "rseq", "gettid", "sched_yield", "sched_getaffinity")),
    *map(Allowed, ("getcpu", "exit", "exit_group", "wait4", "waitid", "rt_sigaction", "rt_sigprocmask")),
    *map(Allowed, ("rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "pause")),
    *map(Allowed, ("restart_syscall", "alarm", "getitimer", "setitimer")),
    # What the time is, to wait, random numbers, who and where it is.
    *map(Allowed, ("time", "gettimeofday", "clock_gettime", "clock_getres", "nanosleep", "clock_nanosleep")),
    *map(Allowed, ("times", "getrusage", "getrandom", "uname", "getpriority")),
    *map(Allowed, ("getpid", "getppid", "getpgid", "getpgrp", "getsid", "getuid", "geteuid", "getgid", "getegid")),
    *map(Allowed, ("getresuid", "getresgid", "getgroups")),
)
LACKING = ("clone3", "openat2", "membarrier", "futex_waitv")
"""Refused as if the kernel lacked them: there is an older way. A filter cannot see the flags of the first two."""

NEEDED_BY_NOBODY = (
    *(
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "kcmp",
        "pidfd_getfd",
        "userfaultfd",
        "perf_event_open",
        "bpf",
    ),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "acct", "quotactl"),
    *(
        "swapon",
        "swapoff",
        "settimeofday",
        "clock_settime",
        "adjtimex",
        "clock_adjtime",
        "sethostname",
        "setdomainname",
    ),
    *("open_by_handle_at", "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key", "request_key", "keyctl"),
    *("socket", "connect", "bind", "listen", "accept", "accept4", "setns", "mknod", "mknodat", "chroot"),
)
"""Refused to zygotes, to what cleans up, and to workers with all of their forks."""
NEEDED_NO_MORE = (
    *("execve", "execveat", "mount", "umount2", "pivot_root", "mount_setattr", "move_mount", "open_tree", "fsopen"),
    *("fsconfig", "fsmount", "fspick"),
)
"""Refused to a worker once it has a file system of its own."""


def refusing_filter(names: Iterable[str], machine: str) -> list[Line]:
    """A filter that refuses these calls on a `machine`, and lets all others through; empty for one that is unknown."""
    if machine not in ARCHITECTURES:
        return []
    architecture, mark = ARCHITECTURES[machine]
    lines: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_SKIP_IF_EQUAL, 1, 0, mark),
        _REFUSE,
        (_LOAD, 0, 0, _NUMBER),
    ]
    for name in names:
        if (number := _number(name, architecture)) is not None:
            lines += [(_SKIP_IF_EQUAL, 0, 1, number), _REFUSE]
    return [*lines, (_RETURN, 0, 0, _ALLOW)]


def call_filter(machine: str) -> list[Line]:
    """The filter that lets through what is allowed on a `machine`, as `platform` names it, as far as it has the call.

    Raises:
        KeyError: an architecture that is not among `ARCHITECTURES`.
        system_calls.NoSuchSystemCall: a name that no architecture knows.
    """
    architecture, mark = ARCHITECTURES[machine]
    lines: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_SKIP_IF_EQUAL, 1, 0, mark),
        _REFUSE,
        (_LOAD, 0, 0, _NUMBER),
        (_SKIP_IF_AT_LEAST, 0, 1, _X32),
        _REFUSE,
    ]
    for allowed in ALLOWED:
        if (number := _number(allowed.name, architecture)) is not None:
            lines += allowed.lines(number)
    for name in LACKING:
        if (number := _number(name, architecture)) is not None:
            lines += [(_SKIP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    return [*lines, _REFUSE]


def _number(name: str, architecture: str) -> int | None:
    try:
        return int(syscalls().get(name, architecture))
    except NotSupportedSystemCall:
        return None
