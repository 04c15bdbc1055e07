"""A worker that imports everything once and then forks for each submission."""

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
from autograder.worker.seeds import seed
from autograder.worker.serve import PrefetchedCalls, prefetch, serve
from autograder.worker.uncompiled import import_whole, is_whole

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)
_WATCH_SECONDS = 0.25
"""Interval between measurements of the scratch folders."""
_PASSING = (errno.EAGAIN, errno.ENOMEM)
"""Errors of `fork` that may pass: the machine is short of processes or memory."""


def run(control: socket.socket, config: dict[str, Any], forbidden: list[str]) -> None:
    """Fork for each request on `control` until the judge hangs up; then kill all forks, remove the folder and exit.

    Messages are one JSON line each. The first one sent is `{"ready": pid, "apart": bool}`; `apart` says whether the
    worker has its own mount namespace. A request has a descriptor attached. If it names an `exercise`, the descriptor
    is a file with the calls prefetched for that exercise, which all later forks know. Otherwise it is the stream to
    serve, and `late` may name a module to import before later submissions. Answers to the latter:

    * `{"started": pid}`, `{"refused": reason, "again": whether that may pass}`, or `{"full": true}`: no scratch left;
    * later `{"ended": pid, "status": wait status, "peak_kib": ..., "processor_seconds": ..., "alone": bool}`, with
      `"because"` if the fork was killed here. `alone` says that no process is left, also none of the submission's own.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # orphans of a submission become our children, where the judge finds them
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    control.setblocking(True)
    _pin_to(config.get("processor"))
    warm_torch()
    seed()
    policy = SandboxPolicy(config["policy"]) if "policy" in config else None
    apart = policy is not None and policy.raise_around_worker()
    own = OwnScratch(config["policy"]["scratches"]) if apart else None
    _freeze_memory()
    _send(control, {"ready": os.getpid(), "apart": apart})
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
                _freeze_memory()
                continue
            if own is not None and not _given_scratch(request, own):
                os.close(descriptors[0])
                _send(control, {"full": True})
                continue
            served += 1
            late = request["late"]
            if served > 1 and late and not is_whole(late):  # not for the first: a single check may not need it
                import_whole(late)
                seed()
                _freeze_memory()
            try:
                serving = partial(serve, forbidden=forbidden, prefetched=prefetched)
                running[_fork(control, (wake, woken), descriptors[0], request, policy, serving)] = request
            except OSError as error:
                os.close(descriptors[0])
                if own is not None:
                    own.give_back(request["scratch"])
                _send(control, {"refused": f"cannot fork: {error.strerror}", "again": error.errno in _PASSING})
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    if "folder" in config:
        shutil.rmtree(config["folder"], ignore_errors=True)
    os._exit(0)  # PyTorch's own shutdown takes half a second


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
        _send(control, {"started": pid})
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
        _one_thread()  # PyTorch recreates its thread pool after a fork, and threads may start that before we limit it
        _confine(request, policy)
        serving(Channel(socket.socket(fileno=stream)))
    finally:
        os._exit(1)


def _confine(request: dict[str, Any], policy: SandboxPolicy | None) -> None:
    """Set this process's limits and, if the backend asks for it, its sandbox."""
    for name, value in request.get("limits", {}).items():
        if hasattr(resource, name):  # macOS lacks some
            resource.setrlimit(getattr(resource, name), (value, value))
    os.chdir(request["scratch"])
    os.environ.update(dict.fromkeys(("TMPDIR", "HOME", "TORCHINDUCTOR_CACHE_DIR"), request["scratch"]))
    if policy is not None:
        policy.raise_around_submission(request["scratch"])
    random.seed(0)  # Python reseeds it in every fork


def _pin_to(processor: int | None) -> None:
    """Pin this process and its forks to one processor, so that their threads do not slow down other workers."""
    if processor is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):  # the account may no longer use that processor
            os.sched_setaffinity(0, {processor})


def warm_torch() -> None:
    """Initialise PyTorch with a single thread: a fork would wait forever for a thread pool of its parent's."""
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


def _freeze_memory() -> None:
    """Exclude all existing objects from garbage collection in forks, which would copy their memory pages."""
    gc.collect()
    gc.freeze()


def _silence() -> None:
    """Redirect the standard streams to /dev/null: prints then neither block a submission nor reach the judge."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _given_scratch(request: dict[str, Any], own: OwnScratch) -> bool:
    """Put a scratch folder into the request; False if none is left."""
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
        _send(control, message | {"alone": alone})


def _send(control: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the judge is gone; the next read sees the end of the stream
        os.write(control.fileno(), json.dumps(message).encode() + b"\n")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _LIBC.prctl(option, value, 0, 0, 0)
