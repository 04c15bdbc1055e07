"""Seccomp filters: a whitelist of system calls for submissions, and lists of calls refused to everything below a judge.

The whitelist has the calls that Python, NumPy, PyTorch and the C library need to compute, to write files in the scratch
folder and to start threads. A refused call fails with EPERM, or with ENOSYS if the C library then falls back to an
older one. The filters are for x86-64 and arm64: seccomp sees only a call's number, which depends on the architecture.
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
"""The `clone` flags of a thread. One that did not share the table of open files would have its own RLIMIT_NOFILE."""
_HOW_OPENED = os.O_ACCMODE | os.O_TRUNC
_OPENED = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC)
"""Landlock decides which files may be opened, but lets two modes through: O_RDONLY | O_TRUNC before its ABI 3, and
access mode 3, neither reading nor writing, in every ABI."""
_ADVICE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 102, 103)
"""For `madvise`: access patterns, freeing memory, page sizes, guard pages; not merging pages or poisoning them."""
_FUTEX_OPERATION = 0x7F
_FUTEX = (0, 1, 3, 4, 5, 9, 10)
"""Waiting and waking; not priority inheritance, which nothing here needs and which has had many kernel bugs."""
_XCOMP = (0x1021, 0x1022, 0x1023)
"""For `arch_prctl`: permission to use the processor's matrix unit (AMX), as PyTorch does."""
_LOAD, _AND, _SKIP_IF_EQUAL, _SKIP_IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's `struct seccomp_data`. Each argument has 8 bytes, the lower half first."""
_X32 = 0x40000000
"""From this number on, x86-64 has the x32 ABI: the same calls under other numbers."""

ARCHITECTURES = {"x86_64": ("x86_64", 0xC000003E), "aarch64": ("arm64", 0xC00000B7)}
"""By `platform.machine()`: the architecture's name in `system_calls`, and its AUDIT_ARCH number."""
_ITSELF = None
"""Placeholder for the pid of the process that installs the filter."""
_REFUSE: Line = (_RETURN, 0, 0, _ERROR | errno.EPERM)


@dataclass(frozen=True)
class Condition:
    """Requires of an argument, counted from 0, that its bits under the mask equal one of the values."""

    argument: int
    values: tuple[int | None, ...]
    mask: int = 0xFFFFFFFF

    def lines(self) -> list[Line]:
        """The BPF lines that refuse the call unless the condition holds, and otherwise fall through."""
        count = len(self.values)
        tests: list[Line] = [(_SKIP_IF_EQUAL, count - i, 0, value) for i, value in enumerate(self.values)]
        return [(_LOAD, 0, 0, _ARGUMENTS + 8 * self.argument), (_AND, 0, 0, self.mask), *tests, _REFUSE]


@dataclass(frozen=True)
class Allowed:
    """A system call that is allowed if all the conditions hold."""

    name: str
    conditions: tuple[Condition, ...] = ()

    def lines(self, number: int) -> list[Line]:
        """The BPF lines that decide on the call with this number, and fall through for all others.

        The number must be in the accumulator, and still is after falling through.
        """
        inner: list[Line] = [line for condition in self.conditions for line in condition.lines()]
        inner.append((_RETURN, 0, 0, _ALLOW))
        return [(_SKIP_IF_EQUAL, 0, len(inner), number), *inner]


def _only(name: str, argument: int, *values: int | None, mask: int = 0xFFFFFFFF) -> Allowed:
    return Allowed(name, (Condition(argument, values, mask),))


ALLOWED = (
    # Allowed with some arguments only. These come first: for the others the kernel caches the verdict in a bitmap.
    _only("openat", 2, *_OPENED, mask=_HOW_OPENED),
    _only("open", 1, *_OPENED, mask=_HOW_OPENED),
    # Only what Python does with its streams: a stream may be a device or a terminal.
    _only("ioctl", 1, _TCGETS, _TCGETS2, _TIOCGWINSZ, _FIONREAD, _FIONBIO, _FIOCLEX, _FIONCLEX),
    # No locks, leases, owners or notifications: other processes would notice them.
    _only("fcntl", 1, _F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_DUPFD_CLOEXEC),
    _only("futex", 1, *_FUTEX, mask=_FUTEX_OPERATION),
    _only("madvise", 2, *_ADVICE),
    _only("clone", 0, _THREAD, mask=_THREAD | _CLONE_NEW),
    # Another family would load its protocol module into the kernel; a datagram socket can send to other addresses.
    Allowed("socketpair", (Condition(0, (_AF_UNIX,)), Condition(1, (_SOCK_STREAM,), _SOCK_TYPE))),
    _only("getsockopt", 1, _SOL_SOCKET),
    _only("prctl", 0, _PR_SET_NAME, _PR_GET_NAME),
    _only("arch_prctl", 0, *_XCOMP),
    *(_only(name, 0, _ITSELF) for name in ("kill", "tgkill")),
    _only("prlimit64", 0, 0),
    _only("fallocate", 1, 0),  # other modes allocate blocks beyond the end of a file, which limits of sizes miss
    # Memory.
    *map(Allowed, ("mmap", "munmap", "mprotect", "mremap", "msync", "brk")),
    # Open streams and files; Landlock decides which can be opened.
    *map(Allowed, ("read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2")),
    *map(Allowed, ("pwritev2", "lseek", "close", "close_range", "dup", "dup2", "dup3", "ftruncate")),
    *map(Allowed, ("fsync", "fdatasync", "sendfile", "copy_file_range", "pipe", "pipe2")),
    *map(Allowed, ("select", "pselect6", "poll", "ppoll", "epoll_create", "epoll_create1", "epoll_ctl")),
    *map(Allowed, ("epoll_wait", "epoll_pwait", "epoll_pwait2")),
    # On a connected pair of sockets: no binding, no connecting, no passing of descriptors.
    *map(Allowed, ("sendto", "recvfrom", "shutdown", "getsockname")),
    # Names and folders. Not `statfs` or `sysinfo`: submissions could use free space and load as a covert channel.
    *map(Allowed, ("stat", "lstat", "fstat", "newfstatat", "statx")),
    *map(Allowed, ("access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd")),
    *map(Allowed, ("chdir", "fchdir", "umask", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename")),
    *map(Allowed, ("renameat", "renameat2", "link", "linkat", "symlink", "symlinkat")),
    # The process's own threads and signals.
    *map(Allowed, ("set_robust_list", "set_tid_address", "rseq", "gettid", "sched_yield", "sched_getaffinity")),
    *map(Allowed, ("getcpu", "exit", "exit_group", "wait4", "waitid", "rt_sigaction", "rt_sigprocmask")),
    *map(Allowed, ("rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "pause")),
    *map(Allowed, ("restart_syscall", "alarm", "getitimer", "setitimer")),
    # Time, waiting, random numbers, identity.
    *map(Allowed, ("time", "gettimeofday", "clock_gettime", "clock_getres", "nanosleep", "clock_nanosleep")),
    *map(Allowed, ("times", "getrusage", "getrandom", "uname", "getpriority")),
    *map(Allowed, ("getpid", "getppid", "getpgid", "getpgrp", "getsid", "getuid", "geteuid", "getgid", "getegid")),
    *map(Allowed, ("getresuid", "getresgid", "getgroups")),
)
LACKING = ("clone3", "openat2", "membarrier", "futex_waitv")
"""Refused with ENOSYS, so that callers fall back to older calls. The first two pass flags in memory, unseen by a
filter."""

REFUSED_ALWAYS = (
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
"""Refused to zygotes, launchers and workers, with all that they fork."""
REFUSED_AFTER_SETUP = (
    *("execve", "execveat", "mount", "umount2", "pivot_root", "mount_setattr", "move_mount", "open_tree", "fsopen"),
    *("fsconfig", "fsmount", "fspick"),
)
"""Refused to a worker once it is in its own mount namespace."""


def refusing_filter(names: Iterable[str], machine: str) -> list[Line]:
    """A BPF filter that refuses these calls and allows all others; empty if `machine` is not in `ARCHITECTURES`."""
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
    """The BPF filter that allows the calls in `ALLOWED`, skipping those that the architecture lacks.

    Args:
        machine: as `platform.machine()` returns it.

    Raises:
        KeyError: `machine` is not in `ARCHITECTURES`.
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
