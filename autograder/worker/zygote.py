"""A process that has imported what workers need, and knows nothing else: they are forked from it.

PyTorch takes two seconds to import. A zygote has done so with a worker's few variables and before it hears from
anybody, so that a fork of it has in its memory what a process has that is started for one worker, and nothing of ours.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NoReturn

from autograder.worker.privileges import LAUNCHER, ZYGOTE, keep_capabilities, refuse_calls
from autograder.worker.process_name import name_process

if TYPE_CHECKING:
    from autograder.worker.imports import AllowedImports
    from autograder.worker.seccomp import Line

NOBODY = -1
"""In the place of a process's number, where the machine has no room for one."""


def fork_workers(
    finder: AllowedImports, layers: list[dict[str, Any]], judge: int | None, refused: list[Line]
) -> dict[str, Any]:
    """Fork for each message on the control stream; return, in each fork, with the configuration of its worker.

    Where the descriptor `judge` says what judge this process is to become, there is a zygote for each layer: a child,
    from before the next one is imported, and before the judge reads anything. It has the other end of their control
    streams. Otherwise this is the zygote for the one layer that there is, and the stream its standard input.

    A message is the name of the worker's folder, which is removed after it, with two descriptors: its standard input,
    where a line of JSON comes first, its configuration; and its standard error, where the first line is the number of
    the process that cleans up after it, or NOBODY.

    Args:
        finder: finds the packages here, in a worker those of its configuration; the judge does without.
        layers: what to import, `warm`, and its `locations`; each layer has all of the one before.
        refused: a filter of the system calls that neither a zygote nor what it forks needs.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing yet that a traceback would be about
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # as `become_judge` has it
    controls = []
    for layer in layers:
        finder.locations = layer["locations"]
        for name in layer["warm"]:
            importlib.import_module(name)
        forkserver = importlib.import_module("autograder.worker.forkserver")  # which needs NumPy
        forkserver.warm_torch()
        gc.collect()
        gc.freeze()
        if judge is None:
            return _serve(socket.socket(fileno=os.dup(0)), finder, refused)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if not os.fork():
            return _serve(theirs, finder, refused)
        theirs.close()
        controls.append(ours.detach())
    assert judge is not None
    sys.meta_path.remove(finder)
    return _become(judge, controls)


def _serve(control: socket.socket, finder: AllowedImports, refused: list[Line]) -> dict[str, Any]:
    """Fork for each message on `control`."""
    name_process("bp-zygote")
    _keep_only(control.fileno())
    keep_capabilities(ZYGOTE)
    refuse_calls(refused)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's to handle
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    while True:
        folder, descriptors, _, _ = socket.recv_fds(control, 4096, 2)
        if not folder:
            os._exit(0)  # PyTorch takes half a second to take itself down
        stream, errors = descriptors
        pid = _fork_now()
        if not pid:
            control.close()
            config = _begin(folder.decode(), stream, errors)
            finder.locations = config["locations"]
            return config
        if pid == NOBODY:
            _say(b"%d\n" % NOBODY, errors)
        os.close(stream)
        os.close(errors)


def _begin(folder: str, stream: int, errors: int) -> dict[str, Any]:
    """Be what cleans up after a worker and, below it, that worker: in the latter this returns its configuration."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()  # Ctrl-C and a kill of the judge's group are the judge's: we clean up
    os.dup2(stream, 0)
    os.dup2(errors, 2)
    os.close(stream)
    os.close(errors)
    _say(b"%d\n" % os.getpid())
    try:
        os.chdir(os.path.join(folder, "scratch"))
    except OSError:  # the judge has gone, and its folder
        os._exit(1)
    pid = fork()
    if pid:
        name_process("bp-launcher")
        keep_capabilities(LAUNCHER)
        clean_up_after(pid, folder)
    name_process("bp-worker")
    config: dict[str, Any] = json.loads(_line())
    if "home" in config:
        _move(config["home"])
    return config


def clean_up_after(worker: int, folder: str) -> NoReturn:
    """Wait for a worker and remove its folder: its wall keeps it from removing what it lies in."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # where the worker ends, the stream does
        if worker == NOBODY:
            _say(b"there is no room for its process\n")
        else:
            os.waitpid(worker, 0)
    finally:
        _remove(folder)
        os._exit(0)


def _remove(folder: str) -> None:
    """The judge removes it, too, unless it was killed."""
    for _ in range(100):  # a submission may live a moment longer than its worker, and still write
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)
        if not os.path.lexists(folder):
            break
        time.sleep(0.1)


def _say(text: bytes, descriptor: int = 2) -> None:
    with contextlib.suppress(OSError):  # the judge has gone: what hangs on its stream ends by itself
        os.write(descriptor, text)


def _line() -> bytes:
    """The first line of standard input; nothing follows before we are ready."""
    line = b""
    with socket.socket(fileno=os.dup(0)) as stream:
        while not line.endswith(b"\n"):
            chunk = stream.recv(65536)
            if not chunk:  # the judge has gone
                os._exit(0)
            line += chunk
    return line


def _move(home: str) -> None:
    """Look for the standard library in `home`, as if this had been started with it as PYTHONHOME."""
    before = sys.prefix
    os.environ["PYTHONHOME"] = home
    sys.path = [home + entry.removeprefix(before) for entry in sys.path]
    for name in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        setattr(sys, name, home)
    sys.path_importer_cache.clear()


def _keep_only(control: int) -> None:
    """Hold nothing open that keeps another process waiting for its end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    for descriptor in map(int, os.listdir("/proc/self/fd")):  # a container may allow a thousand million of them
        if descriptor > 2 and descriptor != control:
            with contextlib.suppress(OSError):  # the one of that folder is closed already
                os.close(descriptor)


def fork() -> int:
    """As `os.fork`, and NOBODY where the machine has no room for a process and gets none in a while."""
    for wait in (0.1, 0.5, 1.0, 2.0, 5.0):
        if (pid := _fork_now()) != NOBODY:
            return pid
        time.sleep(wait)
    return NOBODY


def _fork_now() -> int:
    """As `os.fork`, and NOBODY where there is no room: others wait for a zygote, so it does not."""
    try:
        return os.fork()
    except OSError:
        return NOBODY


def reap() -> None:
    """Let go of those children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(descriptor: int, controls: list[int]) -> NoReturn:
    """Go on as a Python of its own that runs a module of the judge's, but for what is imported already.

    The file `descriptor` has JSON: the `module`, its `arguments`, the variables, where that Python lies, for each of
    `controls` the packages of that zygote, and the module whose `adopt` takes both (`heir`): nothing here names what
    stands above. Until the module says otherwise, Ctrl-C ends it without a traceback.
    """
    with open(descriptor, encoding="utf-8") as file:
        told = json.load(file)
    os.environ.clear()
    os.environ.update(told["environ"])
    sys.executable, sys.prefix, sys.exec_prefix = told["executable"], told["prefix"], told["exec_prefix"]
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in told["environ"]
    tempfile.tempdir = None
    for name in list(sys.modules):  # what stands for the grader, and what knows where another Python lies
        if name.partition(".")[0] == "autograder" or name in ("site", "sysconfig"):
            del sys.modules[name]
    sys.path[:0] = [entry for entry in told["environ"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path_importer_cache.clear()
    importlib.import_module("site").main()
    sys.argv = ["", *told["arguments"]]
    adopt = importlib.import_module(told["heir"]).adopt
    for control, packages in zip(controls, told["layers"], strict=True):
        adopt(control, packages)
    runpy.run_module(told["module"], run_name="__main__", alter_sys=True)
    sys.exit()
