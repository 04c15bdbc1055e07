"""The plain-process backend for systems without fork (Windows): one process per submission, limited in time only."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile

from autograder.isolation.base import Connection, IsolationError, Worker, kill_tree
from autograder.isolation.packages import locations
from autograder.isolation.python import BOOTSTRAP, python, variables
from autograder.worker import wire
from autograder.worker.channel import Channel
from course.syllabus import Environment

START_SECONDS = 60.0


class SpawningWorker(Worker):
    """Starts a process for each submission and talks to it over the loopback interface."""

    isolation = "process"

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._locations = locations(environment)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def open(self, processor_seconds: float | None = None) -> Connection:
        scratch = tempfile.mkdtemp(prefix="backprop-")
        token = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(START_SECONDS)
            config = {
                "locations": self._locations,
                "warm": list(self._environment.packages),
                "fork": False,
                "port": server.getsockname()[1],
                "token": token,
                "scratch": scratch,
            }
            process = subprocess.Popen(
                [*python(), str(BOOTSTRAP), json.dumps(config)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=variables(),
            )
            try:
                stream = _accept(server, token)
            except OSError:
                process.kill()
                process.wait()
                raise IsolationError("the worker did not start") from None
        self._processes[process.pid] = process
        return Connection(Channel(stream, wire.ANSWER), process.pid, scratch)

    def close(self, connection: Connection, grace: float) -> None:
        connection.channel.close()
        process = self._processes.pop(connection.pid, None)
        if process is not None:
            try:
                process.wait(grace)
            except subprocess.TimeoutExpired:
                kill_tree(process.pid, keep_root=False)
            connection.ended = f"ended with exit status {process.wait()}"
        shutil.rmtree(connection.scratch, ignore_errors=True)

    def stop(self) -> None:
        for process in self._processes.values():
            kill_tree(process.pid, keep_root=False)
            process.wait()
        self._processes.clear()


def _accept(server: socket.socket, token: str) -> socket.socket:
    """Accept the connection of the process that sends the token, and close all others."""
    while True:
        stream, _ = server.accept()
        stream.settimeout(5.0)
        said = b""
        while len(said) < len(token):
            chunk = stream.recv(len(token) - len(said))
            if not chunk:
                break
            said += chunk
        if secrets.compare_digest(said, token.encode()):
            os.set_inheritable(stream.fileno(), False)
            return stream
        stream.close()
