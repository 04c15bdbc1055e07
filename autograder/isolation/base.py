"""The interface of isolation backends: a worker, the limits on a submission, and the connection to its process."""

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
    """The backend cannot run submissions here; the message says why and what to do instead."""


class PackageMissing(IsolationError):
    """A package that submissions need is not installed."""


@dataclass(frozen=True)
class Limits:
    """The resources that one submission may use."""

    memory: int = 2 * 2**30
    """Bytes of address space."""
    cpu_seconds: int = 300
    """Seconds of processor time for each process."""
    file_bytes: int = 16 * 2**20
    open_files: int = 64
    scratch_bytes: int = 256 * 2**20
    scratch_entries: int = 10_000
    """Files and folders in its scratch folder, which may have `scratch_bytes` bytes."""

    def as_rlimits(self, processor_seconds: float | None = None) -> dict[str, int]:
        """The limits under the names of the `resource` module.

        Args:
            processor_seconds: replaces `cpu_seconds` if it is less.
        """
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
    """The connection to the process that runs one submission."""

    channel: Channel
    pid: int
    scratch: str
    ended: str | None = field(default=None)
    """How the process ended, in words; None until that is known."""
    alone: bool = False
    """Whether the process is known to have left no other process behind."""
    processor_seconds: float = 0.0
    """The processor time that the process used; 0 until it has ended."""


class Worker(ABC):
    """A process with the packages imported, which runs each submission in a separate process."""

    isolation: str
    """The name of the isolation, as results record it."""

    def ready(self) -> None:  # noqa: B027, a backend that starts nothing is ready
        """Wait until the worker can serve; the constructor does not wait. `IsolationError` if it cannot serve."""

    def prefetch(self, exercise: str, calls: bytes) -> bool:
        """Give all processes opened later the calls that an exercise's checks make; False if this backend cannot."""
        return False

    @abstractmethod
    def open(self, processor_seconds: float | None = None) -> Connection:
        """Start a process for one submission, with at most so much processor time. `IsolationError` if that fails."""

    @abstractmethod
    def close(self, connection: Connection, grace: float) -> None:
        """End a submission's process and all processes that it started, and remove its scratch folder.

        Args:
            grace: seconds for the process to exit by itself, as an idle one does when its stream is closed.
        """

    @abstractmethod
    def stop(self) -> None:
        """End the worker and all processes below it."""


def kill_tree(pid: int | psutil.Process, *, keep_root: bool) -> bool:
    """Kill all processes below `pid`, and then `pid` itself unless `keep_root`.

    Returns whether all of them are gone: False if they still multiply after fifty rounds of killing.
    """
    import psutil  # imported late: Pyodide, where no worker exists, has no psutil

    try:
        root = pid if isinstance(pid, psutil.Process) else psutil.Process(pid)
    except psutil.NoSuchProcess:
        return True
    for _ in range(50):
        try:
            alive = [p for p in root.children(recursive=True) if _running(p)]
        except psutil.NoSuchProcess:  # the root has ended meanwhile
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
