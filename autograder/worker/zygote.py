"""A process that has imported the packages of workers, which are forked from it.

Importing PyTorch takes two seconds. A zygote imports it with a worker's small environment and before it receives any
message, so a fork of it has no more in memory than a process started for one worker: nothing of the judge.
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
"""Replaces a pid if the machine has no room for another process."""


def fork_workers(
    finder: AllowedImports, layers: list[dict[str, Any]], judge: int | None, refused: list[Line]
) -> dict[str, Any]:
    """Fork for each message on the control stream; return, in each fork, the configuration of its worker.

    Without `judge`, this process is the zygote of the only layer, and its control stream is standard input. Otherwise a
    child is forked as the zygote of each layer, before the next layer is imported. This process then becomes the judge,
    with the other ends of the control streams.

    A message is the path of the worker's folder, which is removed after the worker ends, with two descriptors for its
    standard input and error. The first line of input is its configuration in JSON; the first line written to its
    standard error is the pid of the process that cleans up after it, or NOBODY.

    Args:
        finder: finds packages in the layers' locations, then in those of a worker's configuration.
        layers: modules to import (`warm`) and their `locations`; each layer includes the one before.
        judge: descriptor of the file that `_become_judge` reads.
        refused: filter of the system calls that neither a zygote nor its forks need.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback: there is nothing to report yet
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # `isolation.zygote.become_judge` blocked it
    controls = []
    for layer in layers:
        finder.locations = layer["locations"]
        for name in layer["warm"]:
            importlib.import_module(name)
        forkserver = importlib.import_module("autograder.worker.forkserver")  # imports NumPy
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
    return _become_judge(judge, controls)


def _serve(control: socket.socket, finder: AllowedImports, refused: list[Line]) -> dict[str, Any]:
    """Fork for each message on `control`; return the configuration in each worker."""
    name_process("bp-zygote")
    _keep_only(control.fileno())
    keep_capabilities(ZYGOTE)
    refuse_calls(refused)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the judge's to handle
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    while True:
        folder, descriptors, _, _ = socket.recv_fds(control, 4096, 2)
        if not folder:
            os._exit(0)  # PyTorch's own shutdown takes half a second
        stream, errors = descriptors
        pid = _fork_now()
        if not pid:
            control.close()
            config = _begin(folder.decode(), stream, errors)
            finder.locations = config["locations"]
            return config
        if pid == NOBODY:
            _send(b"%d\n" % NOBODY, errors)
        os.close(stream)
        os.close(errors)


def _begin(folder: str, stream: int, errors: int) -> dict[str, Any]:
    """Become a launcher, which cleans up after its worker, and fork the worker, in which this returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()  # survive Ctrl-C and a kill of the judge's process group, in order to clean up
    os.dup2(stream, 0)
    os.dup2(errors, 2)
    os.close(stream)
    os.close(errors)
    _send(b"%d\n" % os.getpid())
    try:
        os.chdir(os.path.join(folder, "scratch"))
    except OSError:  # the judge is gone, and so is its folder
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
    """Wait for a worker and remove its folder, which the worker's sandbox keeps it from doing itself."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # so that the stream closes when the worker ends
        if worker == NOBODY:
            _send(b"there is no room for its process\n")
        else:
            os.waitpid(worker, 0)
    finally:
        _remove(folder)
        os._exit(0)


def _remove(folder: str) -> None:
    """Remove a folder. The judge removes it too, but may have been killed."""
    for _ in range(100):  # a submission may live a moment longer than its worker, and still write
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)
        if not os.path.lexists(folder):
            break
        time.sleep(0.1)


def _send(text: bytes, descriptor: int = 2) -> None:
    with contextlib.suppress(OSError):  # the judge is gone; the worker ends when its stream does
        os.write(descriptor, text)


def _line() -> bytes:
    """Read one line from standard input; the judge sends nothing more until we are ready."""
    line = b""
    with socket.socket(fileno=os.dup(0)) as stream:
        while not line.endswith(b"\n"):
            chunk = stream.recv(65536)
            if not chunk:  # the judge is gone
                os._exit(0)
            line += chunk
    return line


def _move(home: str) -> None:
    """Look for the standard library in `home`, as if Python had been started with it as PYTHONHOME."""
    before = sys.prefix
    os.environ["PYTHONHOME"] = home
    sys.path = [home + entry.removeprefix(before) for entry in sys.path]
    for name in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        setattr(sys, name, home)
    sys.path_importer_cache.clear()


def _keep_only(control: int) -> None:
    """Close all other descriptors, on whose end another process could wait."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    for descriptor in map(int, os.listdir("/proc/self/fd")):  # not `range`: a container may allow a billion of them
        if descriptor > 2 and descriptor != control:
            with contextlib.suppress(OSError):  # the descriptor of `listdir` is closed already
                os.close(descriptor)


def fork() -> int:
    """Like `os.fork`, but retry for some seconds if the machine has no room, then return NOBODY."""
    for wait in (0.1, 0.5, 1.0, 2.0, 5.0):
        if (pid := _fork_now()) != NOBODY:
            return pid
        time.sleep(wait)
    return NOBODY


def _fork_now() -> int:
    """Like `os.fork`, but return NOBODY at once if there is no room: a zygote must not keep other workers waiting."""
    try:
        return os.fork()
    except OSError:
        return NOBODY


def reap() -> None:
    """Reap all children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become_judge(descriptor: int, controls: list[int]) -> NoReturn:
    """Run a module of the judge as if in a new Python, except for the modules that are already imported.

    The file `descriptor` contains JSON: the `module`, its `arguments`, the environment (`environ`), the paths of its
    Python, the packages of each zygote in `controls` (`layers`), and the module whose `adopt` takes control and
    packages (`heir`); it is passed because this folder may not name modules of higher layers. Until the module says
    otherwise, Ctrl-C ends it without a traceback.
    """
    with open(descriptor, encoding="utf-8") as file:
        told = json.load(file)
    os.environ.clear()
    os.environ.update(told["environ"])
    sys.executable, sys.prefix, sys.exec_prefix = told["executable"], told["prefix"], told["exec_prefix"]
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in told["environ"]
    tempfile.tempdir = None
    for name in list(sys.modules):  # the grader's placeholder, and modules that cache another Python's paths
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
