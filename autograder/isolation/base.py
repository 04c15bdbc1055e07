"""A worker and a connection to it: the interface that every backend has."""

from __future__ import annotations

import contextlib
import os
import signal
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

    from autograder.worker.channel import Channel


class IsolationError(RuntimeError):
    """The backend cannot do what it must; the message says why and what to do instead."""


class PackageMissing(IsolationError):
    """A package that submissions need is not installed here."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    memory: int = 2 * 2**30
    """Bytes of address space."""
    cpu_seconds: int = 300
    """Seconds of processor time, of one process."""
    file_bytes: int = 16 * 2**20
    open_files: int = 64
    scratch_bytes: int = 256 * 2**20
    scratch_entries: int = 10_000
    """Bytes in its scratch folder, and files and folders."""

    def as_rlimits(self, processor_seconds: float | None = None) -> dict[str, int]:
        """The limits under the names of the `resource` module; of processor time, so much if that is less."""
        left = self.cpu_seconds if processor_seconds is None else min(self.cpu_seconds, ceil(processor_seconds))
        return {
            "RLIMIT_AS": self.memory,
            "RLIMIT_CPU": max(left, 1),
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_CORE": 0,
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_SIGPENDING": 16,
        }


@dataclass
class Connection:
    """A stream to the process that serves one submission."""

    channel: Channel
    pid: int
    scratch: str
    ended: str | None = field(default=None)
    """How the process ended, in words, once that is known."""
    alone: bool = False
    """Whether it is known to have left no process behind."""
    processor_seconds: float = 0.0
    """The processor time that it used, once it has ended."""


class Worker(ABC):
    """A warm process that serves one submission after the other, each in a process of its own."""

    isolation: str
    """The name that results record."""

    def ready(self) -> None:  # noqa: B027, a backend that starts nothing is ready
        """Wait until it can serve; starting one does not. `IsolationError` if it cannot."""

    def prefetch(self, exercise: str, calls: bytes) -> bool:
        """Let every process that is opened from now on know the calls that the checks of an exercise will make.

        Returns whether this backend can.
        """
        return False

    @abstractmethod
    def open(self, processor_seconds: float | None = None) -> Connection:
        """A fresh process for one submission, with so much processor time. `IsolationError` if it cannot be had."""

    @abstractmethod
    def close(self, connection: Connection, grace: float) -> None:
        """End a submission's process and all that it started, and remove its scratch folder.

        The process has `grace` seconds to end by itself, as an idle one does when its stream is closed.
        """

    @abstractmethod
    def stop(self) -> None:
        """End the worker and everything below it."""


def kill_tree(pid: int | psutil.Process, *, keep_root: bool) -> bool:
    """Kill the processes below `pid` until none is left, and `pid` itself unless it is kept.

    Returns whether all of them are gone: a crowd that multiplies faster than it is killed is given up on.
    """
    import psutil  # not where a learner's functions run in the judge's own process, as in a browser

    try:
        root = pid if isinstance(pid, psutil.Process) else psutil.Process(pid)
    except psutil.NoSuchProcess:
        return True
    for _ in range(50):
        try:
            alive = [p for p in root.children(recursive=True) if _running(p)]
        except psutil.NoSuchProcess:  # it ended meanwhile
            return True
        if not alive:
            break
        for process in alive:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(alive, timeout=0.1)
    else:
        return False
    if not keep_root:
        with contextlib.suppress(psutil.Error):
            root.kill()
    return True


def _running(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def ending(status: int) -> str:
    """A wait status in words."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return "used up its processor time"
        names = {known.value: known.name for known in signal.Signals}  # most real-time signals have none
        said = f"was killed by {names.get(number, f'signal {number}')}"
        if number == signal.SIGSEGV:
            said += ", as compiled code is that calls itself without end (a backward pass that runs into itself)"
        return said
    return f"ended itself with exit status {os.WEXITSTATUS(status)}"
