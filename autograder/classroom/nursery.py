"""Grading processes that are forked from one which has imported all that they need, and does nothing else.

To start one afresh takes half a second, and two more where PyTorch is needed. `multiprocessing` can fork so, too, but
its own way to do it leaves a folder behind where the command is killed with all of its processes.
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
"""How often it is asked whether a process that is not our child has ended."""


class Nursery:
    """The process that grading processes are forked from.

    Args:
        environments: what the lessons need; their packages are imported once, by that process.
    """

    def __init__(self, environments: Iterable[Environment]) -> None:
        self._environments = list(environments)
        self._lifeline, self._ours = os.pipe()
        """All that was forked ends where our end is closed: with us, and not with a nursery that is killed."""
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
        """A new grading process, and what we say to it and hear from it."""
        connection, pid = self._forked()
        if not pid:  # it was killed, by a machine that is short of memory, say
            connection.close()  # what it may have forked before it said so ends, and shares no stream with the next
            self._end()
            self._start()
            connection, pid = self._forked()
        tell(connection, settings)
        return connection, ForkedProcess(pid)

    def _forked(self) -> tuple[Connection, int]:
        """Our end of a new process's stream, and its number: NOBODY where there is no room, 0 where no nursery is."""
        ours, theirs = socket.socketpair()
        said = b""
        with theirs, contextlib.suppress(OSError):
            socket.send_fds(self._control, [b"\n"], [theirs.fileno()])
            said = self._control.recv(32)
        return Connection(ours.detach()), int(said or 0)

    def stop(self) -> None:
        """End it, and what it has forked."""
        self._end()
        os.close(self._lifeline)
        os.close(self._ours)

    def _end(self) -> None:
        self._control.close()
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:  # it imports
            self._process.kill()
            self._process.wait()


class ForkedProcess:
    """A process that is not our child, as `multiprocessing.Process` shows one.

    It has ended where it is a zombie: its parent, which may be busy or stopped, is to let go of it, and not we.
    """

    def __init__(self, pid: int) -> None:
        self._process: psutil.Process | None = None
        with contextlib.suppress(psutil.NoSuchProcess, ValueError):  # it has ended, or there was nobody
            self._process = psutil.Process(pid)  # which knows it from a later one of that number

    def is_alive(self) -> bool:
        try:
            return (
                self._process is not None
                and self._process.is_running()  # and no other has its number by now
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
    """Fork for each stream that comes over standard input, until that ends; what was forked ends with `lifeline`."""
    name_process("bp-nursery")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the command's to handle
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    control = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    from autograder.classroom.grader import serve_stream

    for package in packages:
        with contextlib.suppress(ImportError):  # whoever needs it says what is missing
            importlib.import_module(package)
    gc.collect()
    gc.freeze()  # or each collection of a grading process would look through all of this, and copy it page by page
    while True:
        line, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not line:
            reap()
            os._exit(0)  # PyTorch takes half a second to take itself down
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
        with contextlib.suppress(OSError):  # the command is gone: that is read next
            control.send(str(pid).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
