"""A worker's process as its judge holds it, started afresh or forked."""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Protocol

from autograder.isolation.base import kill_tree
from autograder.worker.zygote import NOBODY

if TYPE_CHECKING:
    import psutil


class Launched(Protocol):
    """The process that cleans up after a worker, and the worker below it; or the worker, where it does so itself."""

    @property
    def crowded(self) -> bool:
        """Whether there was no room for it."""

    def begun(self, seconds: float) -> bool:
        """Whether there is, or was, such a process; waits for that."""

    def wait(self, seconds: float) -> None:
        """Wait for its end, for so long."""

    def end(self) -> str:
        """End it, and what is below it; what it has said on its standard error."""


class Fresh:
    """A process that was started for one worker, with a pipe for its standard error."""

    crowded = False

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._said: str | None = None

    def begun(self, seconds: float) -> bool:
        return True

    def wait(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def end(self) -> str:
        if self._said is None:
            kill_tree(self._process.pid, keep_root=False)
            self._said = self._process.communicate()[1].decode(errors="replace")
        return self._said


class Forked:
    """A process that a zygote forks when it comes to it.

    Args:
        errors: its standard error, which ends with it; the first line says its number, if it could be forked.
    """

    def __init__(self, errors: socket.socket) -> None:
        self._errors = errors
        self._errors.setblocking(False)
        self._said = b""
        self._process: psutil.Process | None = None
        self._over = False

    @property
    def crowded(self) -> bool:
        return self._said.startswith(b"%d\n" % NOBODY)

    def begun(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while b"\n" not in self._said and self._hear(deadline):
            pass
        return b"\n" in self._said and not self.crowded

    def wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._hear(deadline):
            pass

    def end(self) -> str:
        """As `Launched` says; one that is not forked yet sees that it is not needed, and ends."""
        self.wait(0.0)
        if self._process is not None:
            kill_tree(self._process, keep_root=False)
            self.wait(5.0)
        self._over = True
        self._errors.close()
        return self._said.partition(b"\n")[2].decode(errors="replace")

    def _hear(self, deadline: float) -> bool:
        """Whether it says anything before the deadline: not where it has ended."""
        if self._over or not select.select([self._errors], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        said = self._errors.recv(65536)
        self._over = not said
        self._said += said
        number, first, _ = self._said.partition(b"\n")
        if first and self._process is None and int(number) != NOBODY:
            import psutil

            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended
                self._process = psutil.Process(int(number))
        return not self._over
