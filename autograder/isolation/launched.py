"""The judge's handle on a worker's process, which is started as a command or forked by a zygote."""

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
    """The launcher, which cleans up after the worker below it; or the worker itself, if it has no launcher."""

    @property
    def crowded(self) -> bool:
        """Whether the fork failed because the machine had no room for a process."""

    def begun(self, seconds: float) -> bool:
        """Wait up to `seconds` for the process to start; return whether it has."""

    def wait(self, seconds: float) -> None:
        """Wait up to `seconds` for the process to end."""

    def end(self) -> str:
        """Kill the process and all below it; return its standard error."""


class Fresh:
    """A worker that was started as a command, with a pipe for its standard error."""

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
    """A launcher that a zygote forks, perhaps later.

    Args:
        errors: the launcher's standard error, closed when it ends. The first line is its pid, or `NOBODY` if the fork
            failed.
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
        """As in `Launched`. A launcher that is forked only later finds the stream closed, and exits."""
        self.wait(0.0)
        if self._process is not None:
            kill_tree(self._process, keep_root=False)
            self.wait(5.0)
        self._over = True
        self._errors.close()
        return self._said.partition(b"\n")[2].decode(errors="replace")

    def _hear(self, deadline: float) -> bool:
        """Read from the standard error until the deadline; False if nothing came, or if the process has ended."""
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
