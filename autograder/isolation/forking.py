"""The judge's end of a forking worker: one control stream, one fork and one stream for each submission."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from abc import abstractmethod
from itertools import chain, repeat
from typing import IO, Any

from autograder.isolation.base import Connection, IsolationError, Limits, Worker, ending, kill_tree
from autograder.isolation.folders import FOLDERS, OUR_FOLDERS, remove_folder
from autograder.isolation.packages import interpreter, locations
from autograder.places import ROOT
from autograder.threads import ONE_THREAD
from autograder.worker import wire
from autograder.worker.channel import Channel
from course.syllabus import Kit

BOOTSTRAP = ROOT / "autograder" / "worker" / "bootstrap.py"
LATE = "torch.fx.experimental.symbolic_shapes"
"""What PyTorch imports for the first backward pass from a given g: half a second."""

ROOM_SECONDS = 30.0
"""How long a machine is asked again that has no room for a process; what fills it is bounded, and ends."""


def environment() -> dict[str, str]:
    """The few variables that a worker gets: no secrets, one thread, no accelerator."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        **ONE_THREAD,
        "CUDA_VISIBLE_DEVICES": "",
        "HOME": tempfile.gettempdir(),
        "TORCHINDUCTOR_CACHE_DIR": os.path.realpath(
            tempfile.gettempdir()
        ),  # it is made at import, and this one is there
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PATH": os.defpath,
    }


class _Refused(IsolationError):
    """The worker is there, and says no."""


class _RefusedForNow(_Refused):
    """The machine has no room for a process just now."""


class ForkingWorker(Worker):
    """A worker process that forks for each submission. The backends differ in how they start it."""

    def __init__(self, kit: Kit, limits: Limits, run: str = "") -> None:
        self.kit = kit
        self.limits = limits
        self.run = run
        self._foreseen: dict[str, IO[bytes]] = {}
        """Files with the calls that are foreseen, for the worker and any that replaces it."""
        self._start()

    @abstractmethod
    def launch(self, config: dict[str, Any], stream: socket.socket) -> subprocess.Popen[bytes]:
        """Start the worker with `stream` as its standard input."""

    def started(self, answer: dict[str, Any]) -> None:
        """Take note of what the worker said when it was ready."""

    def rlimits(self) -> dict[str, int]:
        """What a fork is limited to, under the names of the `resource` module."""
        return self.limits.as_rlimits()

    def _start(self) -> None:
        with OUR_FOLDERS:
            self._start_launcher()

    def _start_launcher(self) -> None:
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix=f"{FOLDERS}{self.run}"))
        os.mkdir(os.path.join(self._folder, "scratch"))
        self._folders = 0
        self._spare: list[str] = []
        self._fresh: dict[str, Any] = {}
        """What scratch folders look like that nothing was ever put into."""
        self._control, theirs = socket.socketpair()
        self._answers = b""
        self._pid = 0
        with theirs:
            try:
                config = {"locations": locations(self.kit), "warm": list(self.kit.packages), "fork": True}
                self._process = self.launch(config, theirs)
            except BaseException:  # a package that is missing, a machine that cannot confine: nobody else knows it
                self._control.close()
                remove_folder(self._folder)
                raise

    def ready(self) -> None:
        if self._pid:
            return
        try:
            answer = self._answer(60.0)
            self._pid = int(answer["ready"])
        except (IsolationError, KeyError):
            with OUR_FOLDERS:
                kill_tree(self._process.pid, keep_root=False)  # it may be there still, and silent
                said = self._process.communicate()[1].decode(errors="replace").strip() if self._process.stderr else ""
                self.stop()
            raise IsolationError(
                f"the worker did not start: {said.splitlines()[-1] if said else 'no reason given'}"
            ) from None
        self.started(answer)
        for exercise in self._foreseen:  # whatever ended the worker before this one
            self._tell_foreseen(exercise)

    def foresee(self, exercise: str, calls: bytes) -> bool:
        self.ready()
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115, kept
        try:
            if file.write(calls) < len(calls):
                raise OSError("no room")
        except OSError:  # a full disk, a quota: each call can be made when it is asked for
            file.close()
            return False
        self._foreseen[exercise] = file
        self._tell_foreseen(exercise)
        return True

    def _tell_foreseen(self, exercise: str) -> None:
        file = self._foreseen[exercise]
        file.seek(0)
        with contextlib.suppress(OSError):  # the worker was killed since: the next one is told
            socket.send_fds(self._control, [json.dumps({"exercise": exercise}).encode()], [file.fileno()])

    def open(self) -> Connection:
        deadline = time.monotonic() + ROOM_SECONDS
        for wait in chain((0.05, 0.1, 0.2, 0.5), repeat(1.0)):
            try:
                return self._open_or_restart()
            except (_RefusedForNow, BlockingIOError):  # the latter: not even a worker
                if time.monotonic() + wait > deadline:
                    raise
            time.sleep(wait)
        raise AssertionError("it waits for ever, or gives up")

    def _open_or_restart(self) -> Connection:
        self.ready()
        try:
            return self._open()
        except _Refused:
            raise
        except (IsolationError, OSError):  # the worker was killed since
            self.stop()
            self._start()
            self.ready()
            return self._open()

    def _open(self) -> Connection:
        scratch = self._spare_folder() if self._spare else self._new_folder()
        ours, theirs = socket.socketpair()
        room = [self.limits.scratch_bytes, self.limits.scratch_entries]
        # what the references of a lesson needed by now, its submissions will need, too
        late = LATE if "torch" in self.kit.packages and LATE in sys.modules else ""
        request = {"scratch": scratch, "room": room, "limits": self.rlimits(), "late": late}
        with theirs:
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
            except OSError:
                ours.close()
                raise IsolationError("the worker is gone") from None
        while "started" not in (answer := self._answer(30.0)):
            if "refused" in answer:
                ours.close()
                self._spare.append(scratch)
                raise (_RefusedForNow if answer["again"] else _Refused)(f"the worker {answer['refused']}")
        return Connection(Channel(ours, wire.ANSWER), int(answer["started"]), scratch)

    def _spare_folder(self) -> str:
        """An empty folder that another submission had, as if it had not been looked at."""
        folder = self._spare.pop()
        os.utime(folder)  # the time of its last access would tell
        self._fresh[folder] = _look(folder)
        return folder

    def _new_folder(self) -> str:
        """A scratch folder. One that nothing was put into serves again: making one takes a millisecond."""
        self._folders += 1
        folder = os.path.join(self._folder, "scratch", str(self._folders))
        os.mkdir(folder)
        self._fresh[folder] = _look(folder)
        return folder

    def close(self, connection: Connection, grace: float) -> None:
        connection.channel.close()
        if connection.ended is None:
            self.await_end(connection, grace)
        clean = connection.alone or kill_tree(self._pid, keep_root=True)
        if connection.ended is None:
            self.await_end(connection, 5.0)
        fresh = self._fresh.get(connection.scratch)
        if connection.alone and fresh is not None and _look(connection.scratch) == fresh:
            self._spare.append(connection.scratch)
        else:
            self._fresh.pop(connection.scratch, None)
            remove_folder(connection.scratch)
        if not clean or connection.ended is None:
            kill_tree(connection.pid, keep_root=False)  # where the worker died, nothing else ends its submission
            self.stop()
            self._start()

    def await_end(self, connection: Connection, seconds: float) -> None:
        """Learn how the process ended, if it does within `seconds`."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(IsolationError):
            while (left := deadline - time.monotonic()) > 0:
                answer = self._answer(left)
                if answer.get("ended") == connection.pid:
                    connection.ended = answer.get("because") or ending(int(answer["status"]))
                    connection.alone = bool(answer.get("alone"))
                    return

    def stop(self) -> None:
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        with OUR_FOLDERS:
            kill_tree(self._process.pid, keep_root=False)
            self._process.wait()
            if self._process.stderr:
                self._process.stderr.close()
            remove_folder(self._folder)

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The worker's next line on the control stream."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._answers:
            ready, _, _ = select.select([self._control], [], [], max(0.0, deadline - time.monotonic()))
            chunk = self._control.recv(65536) if ready else b""
            if not chunk:
                raise IsolationError("the worker does not answer")
            self._answers += chunk
        line, _, self._answers = self._answers.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _look(folder: str) -> tuple[int, int, int] | None:
    """What no one can change and change back: a folder's inode, its size, and the time of its last change."""
    try:
        status = os.stat(folder, follow_symlinks=False)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_ctime_ns


def python() -> list[str]:
    """The command that starts a worker: no site-packages, no user's site, no folder of the script on the path.

    No bytecode is written: on a full disk Python 3.11 leaves half of it, and no later worker would start.
    """
    return [interpreter(), "-B", "-s", "-S", "-P", "-X", "utf8"]
