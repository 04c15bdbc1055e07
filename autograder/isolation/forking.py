"""The judge's end of a forking worker: one control stream, one fork and one stream for each submission."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import tempfile
import time
from itertools import chain, repeat
from typing import IO, Any

from autograder.isolation import zygote
from autograder.isolation.base import Connection, IsolationError, Limits, Worker, ending, kill_tree
from autograder.isolation.folders import FOLDERS, OUR_FOLDERS, remove_folder
from autograder.isolation.launched import Fresh, Launched
from autograder.isolation.own_time import OwnTime
from autograder.isolation.packages import locations
from autograder.isolation.python import BOOTSTRAP, python, variables
from autograder.worker import wire
from autograder.worker.channel import Channel
from autograder.worker.scratch import look
from autograder.worker.uncompiled import SHAPES, is_whole
from course.syllabus import Environment

START_SECONDS = 60.0
"""How long a worker may take to start."""
ROOM_SECONDS = 30.0
"""Seconds to retry while the machine has no room for a process; the processes that fill it have limits, and end."""


class _Refused(IsolationError):
    """The worker is running, but refuses to fork."""


class _RefusedForNow(_Refused):
    """The machine has no room for another process at the moment."""


class ForkingWorker(Worker):
    """A worker process that forks for each submission. Subclasses differ in how they confine it."""

    def __init__(self, environment: Environment, limits: Limits, run: str = "", processor: int | None = None) -> None:
        self.environment = environment
        self.limits = limits
        self.processor = processor
        self.own_scratch = False
        """Whether the worker has its scratch folders in a mount namespace, where no other process sees them."""
        self.run = run
        self._prefetched: dict[str, IO[bytes]] = {}
        """Files with the prefetched calls of each exercise, for this worker and those that replace it."""
        self._start()

    def confine(self, config: dict[str, Any]) -> None:
        """Add the confinement to a worker's configuration. `IsolationError` if this machine does not support it."""

    def started(self, answer: dict[str, Any]) -> None:
        """Called with the worker's message that it is ready."""

    def rlimits(self, processor_seconds: float | None) -> dict[str, int]:
        """The limits of a fork, under the names of the `resource` module."""
        return self.limits.as_rlimits(processor_seconds)

    def _start(self) -> None:
        with OUR_FOLDERS:
            self._launch()

    def _launch(self) -> None:
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix=f"{FOLDERS}{self.run}"))
        os.mkdir(os.path.join(self._folder, "scratch"))
        self._folders = 0
        self._spare: list[str] = []
        self._fresh: dict[str, Any] = {}
        """By scratch folder: the state in which no submission has touched it yet."""
        self._control, theirs = socket.socketpair()
        self._answers = b""
        self._pid = 0
        with theirs:
            try:
                config: dict[str, Any] = {
                    "locations": locations(self.environment),
                    "warm": list(self.environment.packages),
                    "fork": True,
                }
                config |= {} if self.processor is None else {"processor": self.processor}
                self.confine(config)
                self._process = self._launched(config, theirs)
            except BaseException:  # nobody else knows the folder yet
                self._control.close()
                remove_folder(self._folder)
                raise

    def _launched(self, config: dict[str, Any], stream: socket.socket) -> Launched:
        if zygote.FORKS:
            return zygote.fork_worker(self._folder, config, self.environment, self._control, stream)
        config["folder"] = self._folder  # the worker removes it
        return Fresh(
            subprocess.Popen(
                [*python(), str(BOOTSTRAP), json.dumps(config)],
                stdin=stream.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=variables(),
                start_new_session=True,  # the judge alone gets Ctrl-C, or a signal to its process group
            )
        )

    def ready(self) -> None:
        for wait in (0.1, 0.5, 1.0, 2.0, 5.0):
            try:
                return self._await_ready()
            except _RefusedForNow:  # the zygote itself does not wait: it has other workers to fork
                time.sleep(wait)
        return self._await_ready()

    def _await_ready(self) -> None:
        if self._pid:
            return
        said = ""
        if not self._process.begun(START_SECONDS):
            crowded = self._process.crowded
            said = "" if crowded else zygote.forget(self.environment.packages)  # killed, or an import failed
            self.stop()
            self._start()
            if crowded:
                raise _RefusedForNow("the machine has no room for a worker")
        try:
            answer = self._answer(START_SECONDS)
            self._pid = int(answer["ready"])
        except (IsolationError, KeyError):
            with OUR_FOLDERS:
                said = (self._process.end() or said).strip()  # it may be hanging
                self.stop()
            raise IsolationError(
                f"the worker did not start: {said.splitlines()[-1] if said else 'no reason given'}"
            ) from None
        self.started(answer)
        for exercise in self._prefetched:  # of the worker that this one replaces, if any
            self._send_prefetched(exercise)

    def prefetch(self, exercise: str, calls: bytes) -> bool:
        self.ready()
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115, kept
        try:
            if file.write(calls) < len(calls):
                raise OSError("no room")
        except OSError:  # a full disk, a quota; without prefetching, each call is made when a check asks for it
            file.close()
            return False
        self._prefetched[exercise] = file
        self._send_prefetched(exercise)
        return True

    def _send_prefetched(self, exercise: str) -> None:
        file = self._prefetched[exercise]
        file.seek(0)
        with contextlib.suppress(OSError):  # the worker has been killed; its replacement will get the file
            socket.send_fds(self._control, [json.dumps({"exercise": exercise}).encode()], [file.fileno()])

    def open(self, processor_seconds: float | None = None) -> Connection:
        deadline = time.monotonic() + ROOM_SECONDS
        for wait in chain((0.05, 0.1, 0.2, 0.5), repeat(1.0)):
            try:
                return self._open_or_restart(processor_seconds)
            except (_RefusedForNow, BlockingIOError):  # the latter: there is not even room for a worker
                if time.monotonic() + wait > deadline:
                    raise
            time.sleep(wait)
        raise AssertionError("it waits for ever, or gives up")

    def _open_or_restart(self, processor_seconds: float | None) -> Connection:
        self.ready()
        try:
            return self._open(processor_seconds)
        except _Refused:
            raise
        except (IsolationError, OSError):  # the worker has been killed, or has no scratch folder left
            self.stop()
            self._start()
            self.ready()
            return self._open(processor_seconds)

    def _open(self, processor_seconds: float | None) -> Connection:
        scratch = "" if self.own_scratch else self._spare_folder() if self._spare else self._new_folder()
        ours, theirs = socket.socketpair()
        room = [self.limits.scratch_bytes, self.limits.scratch_entries]
        # if the lesson's references have needed symbolic shapes, its submissions will, too
        late = SHAPES if "torch" in self.environment.packages and is_whole(SHAPES) else ""
        request = {"scratch": scratch, "room": room, "limits": self.rlimits(processor_seconds), "late": late}
        with theirs:
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
            except OSError:
                ours.close()
                raise IsolationError("the worker is gone") from None
        while "started" not in (answer := self._answer(30.0)):
            if "refused" in answer:
                ours.close()
                self._spare += [scratch] if scratch else []
                raise (_RefusedForNow if answer["again"] else _Refused)(f"the worker {answer['refused']}")
            if "full" in answer:
                ours.close()
                raise IsolationError("all of the worker's scratch folders have been used")
        pid = int(answer["started"])
        return Connection(Channel(ours, wire.ANSWER, OwnTime(pid)), pid, scratch)

    def _spare_folder(self) -> str:
        """An empty scratch folder that an earlier submission left untouched."""
        folder = self._spare.pop()
        os.utime(folder)  # the access time would tell that it has been read
        self._fresh[folder] = look(folder)
        return folder

    def _new_folder(self) -> str:
        self._folders += 1
        folder = os.path.join(self._folder, "scratch", str(self._folders))
        os.mkdir(folder)
        self._fresh[folder] = look(folder)
        return folder

    def close(self, connection: Connection, grace: float) -> None:
        connection.channel.close()
        if connection.ended is None:
            self.await_end(connection, grace)
        clean = connection.alone or kill_tree(self._pid, keep_root=True)
        if connection.ended is None:
            self.await_end(connection, 5.0)
        if connection.scratch:
            self._clear(connection)
        if not clean or connection.ended is None:
            kill_tree(connection.pid, keep_root=False)  # if the worker died, nothing else ends its submission
            self.stop()
            self._start()

    def _clear(self, connection: Connection) -> None:
        """Remove a scratch folder, or keep it for the next submission if it is untouched: making one takes 1 ms."""
        fresh = self._fresh.get(connection.scratch)
        if connection.alone and fresh is not None and look(connection.scratch) == fresh:
            self._spare.append(connection.scratch)
        else:
            self._fresh.pop(connection.scratch, None)
            remove_folder(connection.scratch)

    def await_end(self, connection: Connection, seconds: float) -> None:
        """Wait up to `seconds` for the process to end, and record in the connection how it did."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(IsolationError):
            while (left := deadline - time.monotonic()) > 0:
                answer = self._answer(left)
                if answer.get("ended") == connection.pid:
                    connection.ended = answer.get("because") or ending(int(answer["status"]))
                    connection.alone = bool(answer.get("alone"))
                    connection.processor_seconds = float(answer["processor_seconds"])
                    return

    def stop(self) -> None:
        self._control.close()
        self._process.wait(2.0)
        with OUR_FOLDERS:
            self._process.end()
            remove_folder(self._folder)

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The worker's next line on the control stream."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._answers:
            ready, _, _ = select.select([self._control], [], [], max(0.0, deadline - time.monotonic()))
            chunk = b""
            with contextlib.suppress(ConnectionError):  # the worker ended before it had read everything
                chunk = self._control.recv(65536) if ready else b""
            if not chunk:
                raise IsolationError("the worker does not answer")
            self._answers += chunk
        line, _, self._answers = self._answers.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer
