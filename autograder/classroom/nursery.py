"""Forks grading processes from one process that has imported all packages they need and does nothing else.

A fresh process takes half a second to start, and two more if it needs PyTorch. The forkserver of `multiprocessing` does
the same, but leaves a folder behind if the command and all its processes are killed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from multiprocessing.connection import Connection

import psutil

from autograder.classroom.messages import Settings, tell
from autograder.isolation.zygote import start_judge
from autograder.worker.process_name import name_process
from autograder.worker.zygote import fork, reap
from course.syllabus import Environment

JOIN_SECONDS = 0.01
"""Polling interval in seconds while waiting for a process that is not our child."""


class Nursery:
    """The process that grading processes are forked from.

    Args:
        environments: of the lessons; their packages are imported once, by that process.
    """

    def __init__(self, environments: Iterable[Environment]) -> None:
        self._environments = list(environments)
        self._lifeline, self._ours = os.pipe()
        """All forked processes end when our end of this pipe is closed, that is with us, not with a killed nursery."""
        self._start()

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        packages = sorted({package for environment in self._environments for package in environment.packages})
        arguments = [str(self._lifeline), *packages]
        with theirs:
            self._process = start_judge(
                __name__, arguments, self._environments, stdin=theirs.fileno(), pass_fds=[self._lifeline], confined=True
            )

    def start(self, settings: Settings) -> tuple[Connection, ForkedProcess]:
        """Start a grading process; returns the connection to it and its handle."""
        connection, pid = self._request_fork()
        if not pid:  # it was killed, for example for lack of memory
            connection.close()  # ends a process forked before the nursery could report it
            self._end()
            self._start()
            connection, pid = self._request_fork()
        tell(connection, settings)
        return connection, ForkedProcess(pid)

    def _request_fork(self) -> tuple[Connection, int]:
        """Ask the nursery for a process.

        Returns our end of its socket and its pid: `NOBODY` if fork failed, 0 if the nursery is gone.
        """
        ours, theirs = socket.socketpair()
        said = b""
        with theirs, contextlib.suppress(OSError):
            socket.send_fds(self._control, [b"\n"], [theirs.fileno()])
            said = self._control.recv(32)
        return Connection(ours.detach()), int(said or 0)

    def stop(self) -> None:
        """End the nursery and all processes forked from it."""
        self._end()
        os.close(self._lifeline)
        os.close(self._ours)

    def _end(self) -> None:
        self._control.close()
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:  # it is still importing
            self._process.kill()
            self._process.wait()


class ForkedProcess:
    """A process that is not our child, with the interface of `multiprocessing.Process`.

    A zombie counts as ended: its parent has to reap it, we cannot.
    """

    def __init__(self, pid: int) -> None:
        self._process: psutil.Process | None = None
        with contextlib.suppress(psutil.NoSuchProcess, ValueError):  # it has ended, or was never started
            self._process = psutil.Process(pid)  # psutil notices if the pid is reused

    def is_alive(self) -> bool:
        try:
            return (
                self._process is not None
                and self._process.is_running()  # and its pid has not been reused
                and self._process.status() != psutil.STATUS_ZOMBIE
            )
        except psutil.NoSuchProcess:
            return False

    def kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                self._process.kill()

    def join(self, seconds: float | None = None) -> None:
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while self.is_alive() and time.monotonic() < deadline:
            time.sleep(JOIN_SECONDS)


def main(lifeline: int, packages: list[str]) -> None:
    """Fork a grading process for each socket received over standard input until it closes; all end with `lifeline`."""
    name_process("bp-nursery")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command handles Ctrl-C
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    control = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    from autograder.classroom.grader import serve_stream

    for package in packages:
        with contextlib.suppress(ImportError):  # the lesson that needs it reports it
            importlib.import_module(package)
    gc.collect()
    gc.freeze()  # or a forked process's garbage collections would scan all of this, and copy it page by page
    while True:
        line, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not line:
            reap()
            os._exit(0)  # skips PyTorch's shutdown, which takes half a second
        pid = fork()
        if not pid:
            try:
                name_process("bp-grader")
                control.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                serve_stream(descriptors[0], lifeline)
            finally:
                os._exit(1)
        os.close(descriptors[0])
        with contextlib.suppress(OSError):  # the command is gone, as the next receive shows
            control.send(str(pid).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
