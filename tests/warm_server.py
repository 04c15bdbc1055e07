"""Forks commands from a process that has imported their modules: see `warm`.

Run as `python -P tests/warm_server.py DESCRIPTOR PACKAGE...`: it imports all modules of the packages, then serves
requests from the socket DESCRIPTOR until that closes. A request is one message with five descriptors: a file with the
command as JSON, the command's standard input, output and error, and a pipe for its pid and then its exit status.
A command's nursery is forked, too (`warm_nursery`): its requests come to a socket with a name.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import secrets
import selectors
import socket
import sys
import tempfile
import time
from typing import Any

sys.path.append(here := os.path.dirname(__file__))
from warm_nursery import Waiting, fork_nurseries

from autograder.isolation.python import variables

sys.path.remove(here)


def next_command(control: socket.socket, nurseries: socket.socket) -> dict[str, Any]:
    """Serve requests. Returns only in a forked process, with the command that this process is to become."""
    running = selectors.DefaultSelector()
    running.register(control, selectors.EVENT_READ)
    running.register(nurseries, selectors.EVENT_READ)
    waiting: dict[int, Waiting] = {}
    while True:
        for key, _ in running.select():
            if key.fileobj is nurseries:
                _fork_nursery(nurseries, waiting)
            elif key.fileobj is control:
                _, descriptors, _, _ = socket.recv_fds(control, 1, 5)
                if not descriptors:
                    sys.exit()
                pid = os.fork()
                if not pid:
                    for other in [other for other in running.get_map().values() if other.data]:
                        os.close(other.fd)
                        os.close(other.data[1])
                    running.close()
                    control.close()
                    nurseries.close()
                    for one in waiting.values():
                        one.close()
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


def _fork_nursery(asked: socket.socket, waiting: dict[int, Waiting]) -> None:
    """Serve a command's request for a nursery."""
    command, _ = asked.accept()
    with command:
        layers, descriptors, _, _ = socket.recv_fds(command, 1, 6)
    number = int(layers)
    if number not in waiting:
        waiting[number] = Waiting(number)
    waiting[number].fork(descriptors)
    for descriptor in descriptors:
        os.close(descriptor)


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
    known = variables()
    nurseries = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    nurseries.bind(address := f"\0backprop-{secrets.token_hex(16)}")
    nurseries.listen()
    command = next_command(socket.socket(fileno=int(sys.argv[1])), nurseries)
    fork_nurseries(address, known)
    run(command)
