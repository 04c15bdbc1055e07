"""Forks commands from a process that has imported their modules: see `warm`.

Run as `python -P tests/warm_server.py DESCRIPTOR PACKAGE...`: it imports all modules of the packages, then serves
requests from the socket DESCRIPTOR until that closes. A request is one message with five descriptors: a file with the
command as JSON, the command's standard input, output and error, and a pipe for its pid and then its exit status.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import socket
import sys
import tempfile
import time
from typing import Any


def next_command(control: socket.socket) -> dict[str, Any]:
    """Serve requests. Returns only in a forked process, with the command that this process is to become."""
    running = selectors.DefaultSelector()
    running.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in running.select():
            if key.fileobj is control:
                _, descriptors, _, _ = socket.recv_fds(control, 1, 5)
                if not descriptors:
                    sys.exit()
                pid = os.fork()
                if not pid:
                    for other in [other for other in running.get_map().values() if other is not key]:
                        os.close(other.fd)
                        os.close(other.data[1])
                    running.close()
                    control.close()
                    return _become(descriptors)
                *theirs, status = descriptors
                for descriptor in theirs:
                    os.close(descriptor)
                os.write(status, b"%d\n" % pid)
                running.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, status))
            else:
                pid, status = key.data
                running.unregister(key.fileobj)
                os.close(key.fd)
                os.write(status, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                os.close(status)


def _become(descriptors: list[int]) -> dict[str, Any]:
    """Take on the command's streams, folder and environment."""
    with open(descriptors[0], encoding="utf-8") as file:
        command: dict[str, Any] = json.load(file)
    for stream, descriptor in enumerate(descriptors[1:4]):
        os.dup2(descriptor, stream)
    for descriptor in descriptors[1:]:
        os.close(descriptor)
    os.chdir(command["cwd"])
    os.environ.clear()
    os.environ.update(command["env"])
    time.tzset()
    tempfile.tempdir = None
    return command


def run(command: dict[str, Any]) -> None:
    """Go on as the command, as if Python had been started with `-m` and its module, or with its script."""
    sys.argv = [command["program"], *command["arguments"]]
    sys.path.insert(0, command["cwd"] if command["module"] else os.path.dirname(command["program"]))
    if command["module"]:
        runpy.run_module(command["program"], run_name="__main__", alter_sys=True)
    else:
        from autograder.commands import run

        run()


if __name__ == "__main__":
    for name in sys.argv[2:]:
        for found in pkgutil.walk_packages(getattr(importlib.import_module(name), "__path__", ()), f"{name}."):
            importlib.import_module(found.name)
    gc.collect()
    gc.freeze()  # collections in forks leave these pages alone
    run(next_command(socket.socket(fileno=int(sys.argv[1]))))
