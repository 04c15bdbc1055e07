"""Commands that start from a process which has imported their modules, instead of importing them each time.

`warm_server` forks them, with the same folder, environment, streams and exit status as a new process would have. Tests
of what happens before the imports, of signals and of sessions start the real command with `subprocess`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("warm_server.py")
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "OMP_", "OPENBLAS_", "MKL_", "MPL")
"""Prefixes of variables that Python and its libraries read only when they start."""


def _can_wait_for_forks() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # another system, or an old one
        return False
    return True


FORKS = _can_wait_for_forks()


def read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


class Warm:
    """A process that has imported some packages, and the commands that it forks.

    Args:
        packages: whose modules to import.
        env: the environment to import them in; by default, that of this process.
    """

    def __init__(self, *packages: str, env: Mapping[str, str] | None = None) -> None:
        given = os.environ if env is None else env
        self.env = read_at_start(given)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(SERVER), str(theirs.fileno()), *packages],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # of the same kind as that of the commands
                stderr=subprocess.PIPE,
                cwd=SERVER.parent,
                env={**self.env, **{name: given[name] for name in ("PATH", "HOME", "TMPDIR") if name in given}},
                pass_fds=[theirs.fileno()],
                text=True,
            )

    def suits(self, env: Mapping[str, str]) -> bool:
        """Whether Python would have started with `env` as it started here."""
        return read_at_start(env) == self.env

    def run(
        self,
        program: str,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        module: bool = False,
        timeout: float | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command without input, and return like `subprocess.run` with `capture_output` and `text`.

        Args:
            program: the path of `backprop`, or the name of a `module` to run.
        """
        command: dict[str, Any] = {"program": program, "arguments": list(arguments), "module": module}
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file, open(os.devnull, "rb") as nothing:
            json.dump({**command, "cwd": os.path.realpath(cwd), "env": dict(env)}, file)
            file.flush()
            file.seek(0)
            (out, their_out), (err, their_err), (ended, status) = os.pipe(), os.pipe(), os.pipe()
            theirs = [their_out, their_err, status]
            try:
                socket.send_fds(self._control, [b"\n"], [file.fileno(), nothing.fileno(), *theirs])
            except OSError as error:
                raise RuntimeError(self._process.communicate()[1]) from error
            finally:
                for descriptor in theirs:
                    os.close(descriptor)
        with open(out) as stdout, open(err) as stderr, open(ended) as life, ThreadPoolExecutor(3) as threads:
            pid = int(life.readline() or 0)
            reading = [threads.submit(stream.read) for stream in (stdout, stderr, life)]
            try:
                said, complained, code = (one.result(timeout) for one in reading)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired([program, *arguments], timeout or 0) from None
        if not code:
            raise RuntimeError(self._process.communicate()[1])
        return subprocess.CompletedProcess([program, *arguments], int(code), said, complained)

    def stop(self) -> None:
        self._control.close()
        self._process.communicate()
