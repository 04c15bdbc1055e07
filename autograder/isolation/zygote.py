"""The judge's end of zygotes: processes that have imported what workers need, from which those are forked (Linux).

A judge that needs the same begins as a zygote (`start_judge`, `become_judge`), so that one import serves both. Any
other process has a zygote from its first worker on.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.isolation.base import PackageMissing
from autograder.isolation.launched import Forked
from autograder.isolation.packages import locations
from autograder.isolation.python import BOOTSTRAP, python, that_may_be_started, variables
from course.syllabus import Environment

FORKS = sys.platform == "linux"
"""Whether workers and judges are forked here."""
DEAR = "torch"
"""The package that is worth starting a command once more for."""


@dataclass
class _Zygote:
    control: socket.socket
    """Our end of its stream."""
    process: subprocess.Popen[bytes] | None = None
    """None where this process was it before."""

    def end(self) -> str:
        """Fork nothing more from it; what it has said on its standard error."""
        self.control.close()
        if self.process is None:
            return ""
        self.process.kill()
        return self.process.communicate()[1].decode(errors="replace")


_known: dict[frozenset[str], _Zygote] = {}
"""By the packages that they have, and no others."""


def adopt(control: int, packages: Iterable[str]) -> None:
    """Fork workers from a zygote that this process was before."""
    _known[frozenset(packages)] = _Zygote(socket.socket(fileno=control))


def forget(packages: Iterable[str]) -> str:
    """Fork no more workers from a zygote that does not do so; what it has said."""
    zygote = _known.pop(frozenset(packages), None)
    return zygote.end() if zygote else ""


def fork_worker(
    folder: str, config: dict[str, Any], environment: Environment, ours: socket.socket, theirs: socket.socket
) -> Forked:
    """A worker with an environment's packages, and `theirs` as its standard input; it hears its configuration first."""
    errors, said = socket.socketpair()
    with said:
        message = [folder.encode()], [theirs.fileno(), said.fileno()]
        try:
            socket.send_fds(_zygote(environment, confined="policy" in config).control, *message)
        except ConnectionError:  # it was killed
            forget(environment.packages)
            socket.send_fds(_zygote(environment, confined="policy" in config).control, *message)
    ours.sendall(json.dumps(config).encode() + b"\n")
    return Forked(errors)


def _zygote(environment: Environment, *, confined: bool) -> _Zygote:
    packages = frozenset(environment.packages)
    if packages not in _known:
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                _command([packages], None, confined=confined),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=variables(),
                start_new_session=True,
            )
        atexit.register(process.kill)  # it may be importing still, and not hear that our end is closed
        _known[packages] = _Zygote(control, process)
    return _known[packages]


def start_judge(
    module: str,
    arguments: Sequence[str],
    environments: Iterable[Environment],
    *,
    environ: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    confined: bool = False,
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Run a module of ours as a process that needs what these environments have; `options` are those of `Popen`.

    `confined`: its submissions are not its own.
    """
    environ = os.environ if environ is None else environ
    if FORKS:
        with (
            contextlib.suppress(PackageMissing),
            _judge_command(module, arguments, environments, environ, confined=confined) as (command, config),
        ):
            return subprocess.Popen(command, env=variables(), pass_fds=[*pass_fds, config], **options)
    command = [
        that_may_be_started(sys.executable),
        "-P",
        "-m",
        module,
        *arguments,
    ]  # -P: a numpy.py that lies here is not meant
    return subprocess.Popen(command, env=environ, pass_fds=pass_fds, **options)


def become_judge(module: str, arguments: Sequence[str], environments: Iterable[Environment]) -> None:
    """Run a module of ours in the place of this process, if it needs what is dear and has not been a zygote."""
    environments = list(environments)
    if FORKS and not _known and any(DEAR in environment.packages for environment in environments):
        with (
            contextlib.suppress(PackageMissing),
            _judge_command(module, arguments, environments, os.environ) as (command, config),
        ):
            os.set_inheritable(config, True)
            sys.stdout.flush()
            sys.stderr.flush()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # Ctrl-C waits until it means no traceback
            os.execve(command[0], command, variables())


@contextlib.contextmanager
def _judge_command(
    module: str,
    arguments: Sequence[str],
    environments: Iterable[Environment],
    environ: Mapping[str, str],
    *,
    confined: bool = False,
) -> Iterator[tuple[list[str], int]]:
    """The command that starts a zygote which becomes a judge, and a file with what that has to know."""
    layers = _layers(environments)
    with os.fdopen(os.memfd_create("judge"), "w+", encoding="utf-8") as file:
        config = {
            "module": module,
            "arguments": list(arguments),
            "layers": [sorted(layer) for layer in layers],
            "heir": __name__,
            "environ": dict(environ),
            "executable": sys.executable,
            "prefix": sys.prefix,
            "exec_prefix": sys.exec_prefix,
        }
        json.dump(config, file)
        file.flush()
        file.seek(0)
        yield _command(layers, file.fileno(), confined=confined), file.fileno()


def _layers(environments: Iterable[Environment]) -> list[frozenset[str]]:
    """The packages of environments, each with all of the one before; what does not fit in has a zygote of its own."""
    layers: list[frozenset[str]] = []
    for packages in sorted(
        {frozenset(environment.packages) for environment in environments}, key=lambda some: (len(some), sorted(some))
    ):
        if not layers or layers[-1] < packages:
            layers.append(packages)
    return layers


def _command(layers: Iterable[Iterable[str]], judge: int | None, *, confined: bool) -> list[str]:
    steps = [
        {"warm": sorted(packages), "locations": locations(Environment(tuple(sorted(packages)), ()))}
        for packages in layers
    ]
    config: dict[str, Any] = {"locations": steps[0]["locations"], "layers": steps, "judge": judge, "refused": []}
    if confined:
        from autograder.isolation.allowed import (  # slow to import, and for Linux alone
            NEEDED_BY_NOBODY,
            refusing_filter,
        )

        config["refused"] = refusing_filter(NEEDED_BY_NOBODY, platform.machine())
    return [*python(), str(BOOTSTRAP), json.dumps(config)]
