"""The warm worker: everything imported once, then one fork for each submission."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import json
import os
import random
import resource
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from autograder.worker.channel import Channel
from autograder.worker.compilers import compile_its_own
from autograder.worker.kernels import all_operations
from autograder.worker.policy import SandboxPolicy
from autograder.worker.process_name import name_process
from autograder.worker.scratch import OwnScratch, overfull
from autograder.worker.serve import PrefetchedCalls, prefetch, serve
from autograder.worker.uncompiled import import_whole, is_whole

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)
_WATCH_SECONDS = 0.25
"""How often the scratch folders are looked through."""
_PASSING = (errno.EAGAIN, errno.ENOMEM)
"""Why a fork fails on a machine that is short of something just now."""


def run(control: socket.socket, config: dict[str, Any], forbidden: list[str]) -> None:
    """Fork for each request on `control` until the judge hangs up; then leave nothing behind.

    It begins with `{"ready": pid, "apart": whether it has a file system of its own}`. A request is one JSON line with a
    descriptor attached: the stream to serve, or, where the line names an `exercise`, a file with the calls that are
    prefetched for it, which every fork from then on knows. The former names a module that it will need `late`, if any.
    The answers to it, one JSON line each, are `{"started": pid}` or `{"refused": reason, "again": whether that may
    pass}`, and later `{"ended": pid, "status": wait status, "peak_kib": ..., "processor_seconds": ...}`, with
    `"because"` where it was ended here, and with whether it was the last process (`"alone"`): whether it has left none
    behind.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # what a submission leaves behind becomes ours, where the judge finds it
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    control.setblocking(True)
    _keep_to(config.get("processor"))
    warm_torch()
    _seed()
    policy = SandboxPolicy(config["policy"]) if "policy" in config else None
    apart = policy is not None and policy.raise_around_worker()
    own = OwnScratch(config["policy"]["scratches"]) if apart else None
    _settle_memory()
    _say(control, {"ready": os.getpid(), "apart": apart})
    running: dict[int, dict[str, Any]] = {}
    prefetched: dict[str, list[PrefetchedCalls]] = {}
    served = 0
    while True:
        waiting: list[Any] = [control, wake]
        ready = select.select(waiting, [], [], _WATCH_SECONDS if running else None)[0]
        if wake in ready:
            os.read(wake, 4096)
            _reap(control, running, own)
        for pid, request in running.items():
            if own is None and overfull(request["scratch"], *request["room"]):
                request["because"] = "filled its scratch folder"
                os.kill(pid, signal.SIGKILL)
        if control in ready:
            line, descriptors, _, _ = socket.recv_fds(control, 65536, 1)
            if not line or not descriptors:
                break
            request = json.loads(line)
            if "exercise" in request:
                prefetched[request["exercise"]] = prefetch(_read_whole(descriptors[0]))
                _settle_memory()
                continue
            if own is not None and not _given_scratch(request, own):
                os.close(descriptors[0])
                _say(control, {"full": True})
                continue
            served += 1
            late = request["late"]
            if served > 1 and late and not is_whole(late):  # a class: one check may do without
                import_whole(late)
                _seed()
                _settle_memory()
            try:
                serving = partial(serve, forbidden=forbidden, prefetched=prefetched)
                running[_fork(control, (wake, woken), descriptors[0], request, policy, serving)] = request
            except OSError as error:
                os.close(descriptors[0])
                if own is not None:
                    own.give_back(request["scratch"])
                _say(control, {"refused": f"cannot fork: {error.strerror}", "again": error.errno in _PASSING})
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    if "folder" in config:
        shutil.rmtree(config["folder"], ignore_errors=True)
    os._exit(0)  # PyTorch takes half a second to take itself down


def _fork(
    control: socket.socket,
    pipe: tuple[int, int],
    stream: int,
    request: dict[str, Any],
    policy: SandboxPolicy | None,
    serving: Callable[[Channel], None],
) -> int:
    judge = os.getpid()
    pid = os.fork()
    if pid:
        os.close(stream)
        _say(control, {"started": pid})
        return pid
    try:
        name_process("bp-submission")
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
        _one_thread()  # PyTorch makes what is behind it anew after a fork; threads that come first would do so at once
        _confine(request, policy)
        serving(Channel(socket.socket(fileno=stream)))
    finally:
        os._exit(1)


def _confine(request: dict[str, Any], policy: SandboxPolicy | None) -> None:
    """Limits for this process and, where the backend asks for it, a wall of its own."""
    for name, value in request.get("limits", {}).items():
        if hasattr(resource, name):  # macOS lacks some
            resource.setrlimit(getattr(resource, name), (value, value))
    os.chdir(request["scratch"])
    os.environ.update(dict.fromkeys(("TMPDIR", "HOME", "TORCHINDUCTOR_CACHE_DIR"), request["scratch"]))
    if policy is not None:
        policy.raise_around_submission(request["scratch"])
    random.seed(0)  # which Python seeds anew in every fork


def _seed() -> None:
    """Give every submission the same random numbers: forks go on from here."""
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)


def _keep_to(processor: int | None) -> None:
    """Have this process and all of its forks run on one processor, so that their threads crowd out nobody else's."""
    if processor is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):  # it was taken from this account since
            os.sched_setaffinity(0, {processor})


def warm_torch() -> None:
    """Make PyTorch fit to fork: one thread before its first operation, or a fork waits for ever for its parent's."""
    torch = sys.modules.get("torch")
    if torch is not None:
        _one_thread()
        (torch.ones(1, requires_grad=True) * 1.0).sum().backward()
        compile_its_own()
        all_operations()


def _one_thread() -> None:
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def _read_whole(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


def _settle_memory() -> None:
    """Leave what is there by now out of every fork's garbage collection, which would copy it page by page."""
    gc.collect()
    gc.freeze()


def _silence() -> None:
    """Point the standard streams nowhere: what a submission prints costs it nothing and fools no one."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _given_scratch(request: dict[str, Any], own: OwnScratch) -> bool:
    """Give a submission a folder; False if there is none left."""
    folder = own.take()
    if folder is not None:
        request["scratch"] = folder
    return folder is not None


def _reap(control: socket.socket, running: dict[int, dict[str, Any]], own: OwnScratch | None) -> None:
    ended, alone = [], False
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            alone = True
            break
        if not pid:
            break
        if pid in running:
            request = running.pop(pid)
            if own is not None:
                own.give_back(request["scratch"])
            because = {"because": request["because"]} if "because" in request else {}
            used = {"peak_kib": usage.ru_maxrss, "processor_seconds": usage.ru_utime + usage.ru_stime}
            ended.append({"ended": pid, "status": status, **used, **because})
    for message in ended:
        _say(control, message | {"alone": alone})


def _say(control: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the judge is gone: the stream has ended, and that is read next
        os.write(control.fileno(), json.dumps(message).encode() + b"\n")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _LIBC.prctl(option, value, 0, 0, 0)
