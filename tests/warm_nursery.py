"""Nurseries that tests fork from a process which has imported their packages, instead of importing them each time.

A command that `warm_server` forked has its nursery forked, too: by a process that the product has started in the same
way as a nursery, with the zygotes of its packages. These serve all commands of one server, as they serve all grading
processes of one command: they are forked off before there is a command, and have nothing of one in their memory.

Run as a judge's module, it imports what nurseries import, then serves requests from standard input until that closes.
A request is one message with six descriptors: a file with the nursery's environment as JSON, its standard input, output
and error, its lifeline, and a pipe for its pid.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from autograder.isolation.python import variables
from autograder.isolation.zygote import start_judge
from autograder.worker.zygote import reap
from course.syllabus import Environment

NURSERY = "autograder.classroom.nursery"
LAYERS = (("numpy",), ("numpy", "torch"))
"""What is imported, layer by layer. A nursery needs the first layer or both; others are not forked."""


def layers_of(environments: Iterable[Environment]) -> int:
    """How many of `LAYERS` these environments need; 0 if they need other packages."""
    needed = [tuple(sorted(environment.packages)) for environment in environments]
    return max(map(LAYERS.index, needed), default=-1) + 1 if set(needed) <= set(LAYERS) else 0


class Waiting:
    """A process that nurseries are forked from.

    Args:
        layers: how many of `LAYERS` it imports.
    """

    def __init__(self, layers: int) -> None:
        here = str(Path(__file__).parent)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        packages = LAYERS[layers - 1]
        with theirs:
            start_judge(
                Path(__file__).stem,
                [here, *packages],
                [Environment(layer, ()) for layer in LAYERS[:layers]],
                environ={**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])},
                stdin=theirs.fileno(),
                confined=True,
            )

    def fork(self, descriptors: Sequence[int]) -> None:
        """Fork a nursery."""
        socket.send_fds(self._control, [b"\n"], descriptors)

    def close(self) -> None:
        """Leave the process to others; it ends when they have left it, too."""
        self._control.close()


class Forked:
    """A nursery in the place of the `subprocess.Popen` that starts one."""

    def __init__(self, pid: int) -> None:
        self._life: int | None = None
        with contextlib.suppress(ProcessLookupError):  # it has ended
            self._life = os.pidfd_open(pid)

    def wait(self, timeout: float | None = None) -> None:
        if self._life is not None and not select.select([self._life], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(NURSERY, timeout or 0)

    def kill(self) -> None:
        if self._life is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._life, signal.SIGKILL)


def fork_nurseries(address: str, known: dict[str, str]) -> None:
    """Have this command's nursery forked by the server at an address, if its variables would be those that are `known`.

    A command whose lessons need other packages, or that has another folder for temporary files, starts one itself.
    """
    if NURSERY not in sys.modules:
        return
    nursery = sys.modules[NURSERY]

    def fork(
        module: str,
        arguments: Sequence[str],
        environments: Sequence[Environment],
        *,
        stdin: int,
        pass_fds: Sequence[int],
        confined: bool,
    ) -> Forked | subprocess.Popen[bytes]:
        if (layers := layers_of(environments)) and confined and variables() == known:
            return _ask_for(address, layers, [stdin, 1, 2, *pass_fds])
        return start_judge(module, arguments, environments, stdin=stdin, pass_fds=pass_fds, confined=confined)

    vars(nursery)["start_judge"] = fork


def _ask_for(address: str, layers: int, descriptors: Sequence[int]) -> Forked:
    """A nursery with this process's environment and folder, and with these for its streams and its lifeline."""
    told, tells = os.pipe()
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server,
        tempfile.TemporaryFile("w+", encoding="utf-8") as file,
        open(told, encoding="ascii") as answer,
    ):
        json.dump({"cwd": os.getcwd(), "environ": dict(os.environ)}, file)
        file.flush()
        file.seek(0)
        server.connect(address)
        socket.send_fds(server, [b"%d" % layers], [file.fileno(), *descriptors, tells])
        os.close(tells)
        return Forked(int(answer.readline()))


def main(tests: str, packages: list[str]) -> None:
    """Fork a nursery for each request."""
    sys.path.remove(tests)
    for name in ("autograder.classroom.grader", *packages):
        importlib.import_module(name)
    nursery = importlib.import_module(NURSERY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    control = socket.socket(fileno=os.dup(0))
    gc.collect()
    gc.freeze()
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 6)
        if not descriptors:
            os._exit(0)
        if not os.fork():
            control.close()
            nursery.main(_become(descriptors), packages)
        for descriptor in descriptors:
            os.close(descriptor)


def _become(descriptors: Sequence[int]) -> int:
    """Take on a command's environment, streams and folder; return the nursery's lifeline."""
    with open(descriptors[0], encoding="utf-8") as file:
        told: dict[str, Any] = json.load(file)
    for stream, descriptor in enumerate(descriptors[1:4]):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(told["cwd"])
    os.environ.clear()
    os.environ.update(told["environ"])
    time.tzset()
    tempfile.tempdir = None
    *_, lifeline, tells = descriptors
    os.write(tells, b"%d\n" % os.getpid())
    os.close(tells)
    return lifeline


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
