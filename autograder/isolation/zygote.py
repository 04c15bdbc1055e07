"""The judge's end of zygotes: processes that have imported the packages of workers and fork them (Linux).

A judge that needs the same packages starts as a zygote itself (`start_judge`, `become_judge`), so that they are
imported once. Any other process starts a zygote with its first worker.
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
from autograder.isolation.python import BOOTSTRAP, python, require_executable, variables
from course.syllabus import Environment

FORKS = sys.platform == "linux"
"""Whether this system forks workers and judges."""
SLOW_TO_IMPORT = "torch"
"""The package whose import takes so long that a command re-executes itself to import it once."""


@dataclass
class _Zygote:
    control: socket.socket
    """Our end of the stream to it."""
    process: subprocess.Popen[bytes] | None = None
    """None if this process forked it off before it became a judge."""

    def end(self) -> str:
        """End the zygote; return its standard error."""
        self.control.close()
        if self.process is None:
            return ""
        self.process.kill()
        return self.process.communicate()[1].decode(errors="replace")


_known: dict[frozenset[str], _Zygote] = {}
"""By exactly the packages that they have imported."""


def adopt(control: int, packages: Iterable[str]) -> None:
    """Fork workers with these packages from a zygote that this process forked off before it became a judge."""
    _known[frozenset(packages)] = _Zygote(socket.socket(fileno=control))


def forget(packages: Iterable[str]) -> str:
    """End the zygote with these packages and return its standard error, so that the next worker starts a new one."""
    zygote = _known.pop(frozenset(packages), None)
    return zygote.end() if zygote else ""


def fork_worker(
    folder: str, config: dict[str, Any], environment: Environment, ours: socket.socket, theirs: socket.socket
) -> Forked:
    """Fork a worker with the packages of `environment` and send it its configuration.

    Args:
        folder: the worker's temporary folder.
        ours, theirs: the two ends of the control stream; `theirs` becomes the worker's standard input.
    """
    errors, said = socket.socketpair()
    with said:
        message = [folder.encode()], [theirs.fileno(), said.fileno()]
        try:
            socket.send_fds(_zygote(environment, confined="policy" in config).control, *message)
        except ConnectionError:  # the zygote was killed
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
        atexit.register(process.kill)  # while it is importing, it does not notice that our end is closed
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
    """Run a module of ours in a process that needs the packages of these environments.

    Args:
        confined: refuse the system calls in `REFUSED_ALWAYS` to zygotes and workers: others' submissions run in them.
        options: passed to `subprocess.Popen`.
    """
    environ = os.environ if environ is None else environ
    if FORKS:
        with (
            contextlib.suppress(PackageMissing),
            _judge_command(module, arguments, environments, environ, confined=confined) as (command, config),
        ):
            return subprocess.Popen(command, env=variables(), pass_fds=[*pass_fds, config], **options)
    # -P: do not import a numpy.py in the current folder
    command = [require_executable(sys.executable), "-P", "-m", module, *arguments]
    return subprocess.Popen(command, env=environ, pass_fds=pass_fds, **options)


def become_judge(module: str, arguments: Sequence[str], environments: Iterable[Environment]) -> None:
    """Replace this process by a zygote that goes on as a module of ours, if the environments need PyTorch.

    Does nothing if this process has a zygote already, or on systems that do not fork.
    """
    environments = list(environments)
    if FORKS and not _known and any(SLOW_TO_IMPORT in environment.packages for environment in environments):
        with (
            contextlib.suppress(PackageMissing),
            _judge_command(module, arguments, environments, os.environ) as (command, config),
        ):
            os.set_inheritable(config, True)
            sys.stdout.flush()
            sys.stderr.flush()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # until the new process can handle Ctrl-C
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
    """The command of a zygote that becomes a judge, and the descriptor of a file with the judge's configuration."""
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
    """Growing sets of packages, each a superset of the one before, so that one zygote can be forked from another.

    Packages of environments that do not fit into this chain are left out: they get a separate zygote.
    """
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
        from autograder.isolation.allowed import REFUSED_ALWAYS, refusing_filter  # slow to import, and Linux only

        config["refused"] = refusing_filter(REFUSED_ALWAYS, platform.machine())
    return [*python(), str(BOOTSTRAP), json.dumps(config)]
