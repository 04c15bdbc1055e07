"""The sandbox: Landlock and seccomp around the worker, and a second wall around each submission."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from autograder.isolation.allowed import ARCHITECTURES, NEEDED_NO_MORE, call_filter, refusing_filter
from autograder.isolation.base import IsolationError
from autograder.isolation.forking import ForkingWorker
from autograder.isolation.packages import readable, stage_python
from autograder.isolation.tasks import TASKS, tasks_of_user
from autograder.worker.landlock import FULL_ABI, landlock_abi

SCRATCHES = 8
"""File systems for submissions that a worker has, and submissions that may put something into theirs before it has to
be replaced: none serves again that shows what somebody did."""


class SandboxWorker(ForkingWorker):
    """A forking worker with no network, no writes but to a scratch folder, and few paths to read.

    A wall stands around the worker and all of its forks; where the kernel lets them have mounts of their own, nothing
    exists beyond it. Each fork raises a second wall: it can make no process, has few threads, and cannot signal, trace
    or read another submission, nor the worker itself.
    """

    def confine(self, config: dict[str, Any]) -> None:
        abi, machine = landlock_abi(), platform.machine()
        if abi < 1 or machine not in ARCHITECTURES:
            lacks = "has no Landlock" if abi < 1 else f"is a {machine}, which the sandbox does not know"
            raise IsolationError(
                f"this machine {lacks}, so submissions cannot be confined; use Linux 6.12 or newer"
                f" on {' or '.join(ARCHITECTURES)}, or accept the risk with --isolation process"
            )
        self._landlock = abi
        self.isolation = self._description(apart=True)
        home = Path(self._folder) / "python"
        stage_python(home)
        scratch = Path(self._folder) / "scratch"
        scratches = [scratch / f"own-{i}" for i in range(SCRATCHES)]
        for folder in scratches:
            folder.mkdir()
        root = Path(self._folder) / "root"
        root.mkdir()
        paths = [*readable(self.environment), str(home)]
        config["home"] = str(home)
        config["policy"] = {
            "landlock": abi,
            "readable": paths,
            "scratch": str(scratch),
            "scratches": [str(folder) for folder in scratches],
            "room": [self.limits.scratch_bytes, self.limits.scratch_entries],
            "root": str(root),
            "around": _around(paths, Path(self._folder)),
            "allowed": call_filter(machine),
            "refused": refusing_filter(NEEDED_NO_MORE, machine),
            "tasks": tasks_of_user() + TASKS,
        }

    def started(self, answer: dict[str, Any]) -> None:
        self.own_scratch = bool(answer["apart"])
        self.isolation = self._description(apart=self.own_scratch)

    def _description(self, *, apart: bool) -> str:
        degraded = "" if self._landlock >= FULL_ABI else ", degraded"
        return f"sandbox{degraded} (Landlock ABI {self._landlock}{'' if apart else '; no mount namespace'})"


def _around(paths: list[str], folder: Path) -> list[str]:
    """The highest folders that hold `paths` but not the worker's own `folder`, or the paths themselves inside of it.

    What a fork may read is what both walls let through. The first is exact; the second has to keep the forks apart,
    and the kernel takes milliseconds for hundreds of paths.
    """
    return sorted({str(_highest(Path(os.path.realpath(path)), folder)) for path in paths})


def _highest(path: Path, folder: Path) -> Path:
    above = [parent for parent in reversed(path.parents) if not folder.is_relative_to(parent)]
    return above[0] if above and not path.is_relative_to(folder) else path
