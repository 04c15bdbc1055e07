"""The system calls that a submission may not make, as a filter for the kernel: what Landlock lets through.

Linux on x86-64 and arm64: seccomp knows calls by their number only, and each architecture has its own.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from system_calls import NotSupportedSystemCall, syscalls

from autograder.worker.seccomp import Line

_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECUREBITS, _PR_SET_PTRACER = 1, 4, 28, 0x59616D61
_F_SETOWN, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY = 8, 15, 1024, 1026
_TCGETS, _TCGETS2, _TIOCGWINSZ = 0x5401, 0x802C542A, 0x5413
_FIONREAD, _FIONBIO, _FIOCLEX, _FIONCLEX = 0x541B, 0x5421, 0x5451, 0x5450
_CLONE_THREAD, _CLONE_FILES, _CLONE_NEW = 0x00010000, 0x00000400, 0x7E020000
_THREAD = _CLONE_THREAD | _CLONE_FILES
"""As the C library makes one; with files of its own it would have a limit of its own."""
_HOW_OPENED = os.O_ACCMODE | os.O_TRUNC
_FOR_CONTROL = 3
"""An access mode that asks Landlock for no right: for a descriptor to control a file by, not to read or write it."""
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


@dataclass(frozen=True)
class Refusal:
    """A system call that is refused: always, for some values of an argument, or for all others."""

    name: str
    argument: int | None = None
    values: tuple[int | None, ...] = ()
    only: bool = False
    """Whether the values are the only ones that are let through."""
    mask: int = 0xFFFFFFFF
    """The bits of the argument that count."""
    error: int = errno.EPERM

    def lines(self, number: int) -> list[Line]:
        """Refuse the call of this number, or fall through with the number loaded."""
        refuse: Line = (_RETURN, 0, 0, _ERROR | self.error)
        if self.argument is None:
            return [(_SKIP_IF_EQUAL, 0, 1, number), refuse]
        last = len(self.values) - 1
        tests: list[Line] = [
            (_SKIP_IF_EQUAL, last - i + self.only, 0 if i < last or self.only else 1, value)
            for i, value in enumerate(self.values)
        ]
        load: list[Line] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * self.argument), (_AND, 0, 0, self.mask)]
        inner = [*load, *tests, refuse, (_LOAD, 0, 0, _NUMBER)]
        return [(_SKIP_IF_EQUAL, 0, len(inner), number), *inner]


REFUSALS = (
    # Processes and other programs. Threads stay: they are made by the same call, whose newer form hides its flags.
    Refusal("clone", 0, (_THREAD,), only=True, mask=_THREAD | _CLONE_NEW),
    Refusal("clone3", error=errno.ENOSYS),  # the C library then takes the older one
    *map(Refusal, ("fork", "vfork", "execve", "execveat")),
    # Sockets: Landlock's rules hold for plain TCP, not for MPTCP, nor where a send opens the connection.
    Refusal("socket"),
    Refusal("socketpair", 0, (_AF_UNIX,), only=True),  # another loads its protocol into the kernel
    Refusal("socketpair", 1, (_SOCK_STREAM,), only=True, mask=_SOCK_TYPE),  # one of datagrams reaches others
    # To outlive its parent, to be traced or dumped, to keep capabilities.
    Refusal("prctl", 0, (_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECUREBITS, _PR_SET_PTRACER)),
    # Limits, priorities and processors of the user's other processes.
    Refusal("prlimit64", 0, (0,), only=True),
    *map(Refusal, ("setpriority", "ioprio_set")),
    *map(Refusal, ("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")),
    # Signals to others: Landlock refuses them from ABI 6 on.
    *(Refusal(name, 0, (_ITSELF,), only=True) for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")),
    *map(Refusal, ("tkill", "pidfd_send_signal")),
    # By descriptors: signals to others, leases that keep others from opening a file, news of what they do, locks.
    Refusal("fcntl", 1, (_F_SETOWN, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY)),
    Refusal("flock"),
    # To control devices, terminals and the attributes of files: no more than Python does with a stream.
    Refusal("ioctl", 1, (_TCGETS, _TCGETS2, _TIOCGWINSZ, _FIONREAD, _FIONBIO, _FIOCLEX, _FIONCLEX), only=True),
    # Memory that is nobody's: it counts for no limit once its descriptor is closed.
    *map(Refusal, ("memfd_create", "memfd_secret")),
    # Memory, descriptors and system calls of other processes.
    *map(
        Refusal,
        ("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "seccomp"),
    ),
    # To empty files that may only be read, or not even that: Landlock refuses it from ABI 3 on.
    Refusal("truncate"),
    Refusal("open", 1, (os.O_TRUNC,), mask=_HOW_OPENED),
    Refusal("openat", 2, (os.O_TRUNC,), mask=_HOW_OPENED),
    # To hold what may not be opened at all.
    Refusal("open", 1, (_FOR_CONTROL,), mask=os.O_ACCMODE),
    Refusal("openat", 2, (_FOR_CONTROL,), mask=os.O_ACCMODE),
    Refusal("openat2"),  # a filter cannot see its flags
    # Landlock guards what files contain, not what they are; the judge's user owns the class folder.
    *map(Refusal, ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "fchownat", "lchown")),
    *map(Refusal, ("file_setattr", "utime", "utimes", "futimesat", "utimensat")),
    *map(Refusal, ("setxattr", "lsetxattr", "fsetxattr", "setxattrat")),
    *map(Refusal, ("removexattr", "lremovexattr", "fremovexattr", "removexattrat")),
    *map(Refusal, ("inotify_init", "inotify_init1", "fanotify_init", "name_to_handle_at", "open_by_handle_at")),
    # What stays behind, or is met by others: queues, keys, shared memory.
    *map(Refusal, ("mq_open", "mq_unlink", "msgget", "msgsnd", "msgrcv", "msgctl", "add_key", "request_key", "keyctl")),
    *map(Refusal, ("shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semctl", "semtimedop")),
    # The machine, and doors into the kernel that have stood open.
    *map(Refusal, ("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "swapon", "swapoff")),
    *map(Refusal, ("quotactl", "quotactl_fd", "listmount", "statmount", "open_tree_attr")),
    *map(Refusal, ("fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "move_mount", "mount_setattr")),
    *map(Refusal, ("reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module")),
    *map(Refusal, ("sethostname", "setdomainname", "acct", "syslog", "ioperm", "iopl", "personality")),
    *map(Refusal, ("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register")),
)


def refused_calls(machine: str) -> list[Line]:
    """The filter that makes REFUSALS hold on a `machine`, as `platform` names it. A call that it lacks needs none.

    Raises:
        KeyError: an architecture that is not among `ARCHITECTURES`.
        system_calls.NoSuchSystemCall: a name that no architecture knows.
    """
    architecture, mark = ARCHITECTURES[machine]
    table = syscalls()
    refuse: Line = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    lines: list[Line] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_SKIP_IF_EQUAL, 1, 0, mark),
        refuse,
        (_LOAD, 0, 0, _NUMBER),
        (_SKIP_IF_AT_LEAST, 0, 1, _X32),
        refuse,
    ]
    for refusal in REFUSALS:
        try:
            lines += refusal.lines(table.get(refusal.name, architecture))
        except NotSupportedSystemCall:
            continue
    return [*lines, (_RETURN, 0, 0, _ALLOW)]
