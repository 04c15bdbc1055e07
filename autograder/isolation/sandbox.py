"""The sandlock backend: Landlock and seccomp around the worker, and a second wall around each submission."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from autograder.isolation.base import IsolationError
from autograder.isolation.forking import BOOTSTRAP, ForkingWorker, environment, python
from autograder.isolation.packages import readable, stage_python

LAUNCHER = Path(__file__).with_name("launcher.py")
REFUSED = (
    # Landlock guards what files contain, not what they are; the judge's user owns the class folder.
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "fchownat", "lchown", "file_setattr"),
    *("utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat", "inotify_init", "inotify_init1"),
    # Its signal scope does not cover the priority and the processors of the user's other processes.
    *("setpriority", "ioprio_set"),
    # Nor the message queues of the user, which stay behind even where Landlock then refuses to open them.
    *("mq_open", "mq_unlink"),
    *("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"),
)
"""System calls refused to a worker and its submissions, beside those that sandlock always refuses."""
FULL_ABI = 6
"""The Landlock version that has all that confinement needs: Linux 6.12."""
_SINCE = {"FS_TRUNCATE": 3, "NET_TCP": 4, "FS_IOCTL_DEV": 5, "SIGNAL_SCOPE": 6, "ABSTRACT_UNIX_SOCKET_SCOPE": 6}
"""By sandlock's names for what Landlock can refuse: the version that brought it. The rest is in all of them."""


def landlock_abi() -> int:
    """The kernel's Landlock version; -1 where there is none or sandlock cannot be had."""
    try:
        import sandlock
    except (ImportError, OSError):
        return -1
    return int(sandlock.landlock_abi_version())


class SandboxWorker(ForkingWorker):
    """A forking worker with no network, no writes but to a scratch folder, and few paths to read.

    Each fork raises a second wall: it cannot signal, trace or read another submission, nor the worker itself.
    The rules of sandlock's supervisor (processes, memory) hold for all of them together.
    """

    def launch(self, config: dict[str, Any], stream: socket.socket) -> subprocess.Popen[bytes]:
        abi = landlock_abi()
        if abi < 1:
            raise IsolationError(
                "this machine has no Landlock, so submissions cannot be confined; "
                "use Linux 6.12 or newer, or accept the risk with --isolation process"
            )
        self.isolation = f"sandlock{'' if abi >= FULL_ABI else ', degraded'} (Landlock ABI {abi})"
        home = Path(self._folder) / "python"
        stage_python(home)
        scratch = str(Path(self._folder) / "scratch")
        paths = [*readable(self.kit), str(home)]
        wall = {
            "fs_readable": paths,
            "fs_writable": [scratch, "/dev/null"],
            "max_processes": 2,  # the worker and one submission: a submission that forks is refused
            "extra_deny_syscalls": REFUSED,
            "no_coredump": True,
            "clean_env": True,
            "env": {**environment(), "PYTHONHOME": str(home)},
            "cwd": scratch,
            "num_cpus": 1,
        }
        around = _around(paths, Path(self._folder))
        config = {**config, "readable": around, "warm": [*config["warm"], "sandlock"]}
        config["landlock"] = abi
        config["locations"]["sandlock"] = _package("sandlock")
        command = [*python(), str(BOOTSTRAP), json.dumps(config)]
        without = [name for name, since in _SINCE.items() if abi < since]
        request = {"wall": wall, "without": without, "command": command, "folder": self._folder}
        return subprocess.Popen(
            [sys.executable, "-I", str(LAUNCHER), json.dumps(request)],
            stdin=stream.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C and a kill of the judge's group are the judge's: the launcher cleans up
        )


def _around(paths: list[str], folder: Path) -> list[str]:
    """The highest folders that hold `paths` but not the worker's own `folder`, or the paths themselves inside of it.

    What a fork may read is what both walls let through. The first is exact; the second has to keep the forks apart,
    and the kernel takes milliseconds for hundreds of paths.
    """
    return sorted({str(_highest(Path(path), folder)) for path in paths})


def _highest(path: Path, folder: Path) -> Path:
    above = [parent for parent in reversed(path.parents) if not folder.is_relative_to(parent)]
    return above[0] if above and not path.is_relative_to(folder) else path


def _package(name: str) -> str:
    module = __import__(name)
    assert module.__file__ is not None
    return str(Path(module.__file__).parent)
