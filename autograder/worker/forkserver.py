"""The warm worker: everything imported once, then one fork for each submission."""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import select
import signal
import socket
import sys
from typing import Any

from autograder.worker.channel import Channel
from autograder.worker.serve import serve

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def run(control: socket.socket, config: dict[str, Any], forbidden: list[str]) -> None:
    """Fork for each request on `control` until the judge hangs up; then leave nothing behind.

    A request is one JSON line with a descriptor attached: the stream to serve. The answers, one JSON line each,
    are `{"started": pid}` or `{"refused": reason}`, and later `{"ended": pid, "status": wait status, "peak_kib": ...}`.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what a submission leaves behind becomes ours, where the judge finds it
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    control.setblocking(True)
    _say(control, {"ready": os.getpid()})
    running: set[int] = set()
    while True:
        waiting: list[Any] = [control, wake]
        ready = select.select(waiting, [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
            _reap(control, running)
        if control in ready:
            line, descriptors, _, _ = socket.recv_fds(control, 65536, 1)
            if not line or not descriptors:
                break
            try:
                running.add(_fork(control, (wake, woken), descriptors[0], json.loads(line), config, forbidden))
            except OSError as error:
                os.close(descriptors[0])
                _say(control, {"refused": f"cannot fork: {error.strerror}"})
    for pid in running:
        os.kill(pid, signal.SIGKILL)


def _fork(
    control: socket.socket,
    pipe: tuple[int, int],
    stream: int,
    request: dict[str, Any],
    config: dict[str, Any],
    forbidden: list[str],
) -> int:
    judge = os.getpid()
    pid = os.fork()
    if pid:
        os.close(stream)
        _say(control, {"started": pid})
        return pid
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in pipe:
            os.close(descriptor)
        control.close()
        _silence()
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != judge:
            os._exit(1)
        confine(request, config)
        serve(Channel(socket.socket(fileno=stream)), forbidden)
    finally:
        os._exit(1)


def confine(request: dict[str, Any], config: dict[str, Any]) -> None:
    """Limits for this process and, where the backend asks for it, a wall of its own."""
    for name, value in request.get("limits", {}).items():
        resource.setrlimit(getattr(resource, name), (value, value))
    os.chdir(request["scratch"])
    os.environ.update(TMPDIR=request["scratch"], HOME=request["scratch"])
    if config.get("readable") is not None:
        from sandlock import Sandbox
        from sandlock import confine as raise_wall

        raise_wall(
            Sandbox(
                fs_readable=config["readable"],
                fs_writable=[request["scratch"], "/dev/null"],
                allow_degraded=config["degraded"],
            )
        )
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)


def _silence() -> None:
    """Point the standard streams nowhere: what a submission prints costs it nothing and fools no one."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    sys.stdin, sys.stdout, sys.stderr = (
        open(descriptor, mode, closefd=False)  # noqa: SIM115
        for descriptor, mode in ((0, "r"), (1, "w"), (2, "w"))
    )


def _reap(control: socket.socket, running: set[int]) -> None:
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        if pid in running:
            running.discard(pid)
            _say(control, {"ended": pid, "status": status, "peak_kib": usage.ru_maxrss})


def _say(control: socket.socket, message: dict[str, Any]) -> None:
    os.write(control.fileno(), json.dumps(message).encode() + b"\n")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
