"""The sandbox backend: Landlock and seccomp around the worker, and again, stricter, around each submission."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from autograder.isolation.allowed import ARCHITECTURES, REFUSED_AFTER_SETUP, call_filter, refusing_filter
from autograder.isolation.base import IsolationError
from autograder.isolation.forking import ForkingWorker
from autograder.isolation.packages import readable, stage_python
from autograder.isolation.tasks import TASKS, tasks_of_user
from autograder.worker.landlock import FULL_ABI, landlock_abi

SCRATCHES = 8
"""Scratch file systems of a worker. A submission that writes to one uses it up, because the next could see traces; when
all are used up the worker is replaced."""


class SandboxWorker(ForkingWorker):
    """A forking worker without network, which can write only to scratch folders and read only the paths it needs.

    One Landlock and seccomp policy confines the worker and all of its forks. If the kernel allows mount namespaces,
    other paths do not even exist for them. Each fork adds a second policy: it cannot start processes, has few threads,
    and cannot signal, trace or read other submissions or the worker.
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
            "refused": refusing_filter(REFUSED_AFTER_SETUP, machine),
            "tasks": tasks_of_user() + TASKS,
        }

    def started(self, answer: dict[str, Any]) -> None:
        self.own_scratch = bool(answer["apart"])
        self.isolation = self._description(apart=self.own_scratch)

    def _description(self, *, apart: bool) -> str:
        degraded = "" if self._landlock >= FULL_ABI else ", degraded"
        return f"sandbox{degraded} (Landlock ABI {self._landlock}{'' if apart else '; no mount namespace'})"


def _around(paths: list[str], folder: Path) -> list[str]:
    """The topmost folders that contain `paths` but not the worker's `folder`; paths inside of `folder` as they are.

    A fork may read what both policies allow. The first one is exact, so the second may be coarser: it only has to keep
    forks apart, and the kernel takes milliseconds for hundreds of rules.
    """
    return sorted({str(_highest(Path(os.path.realpath(path)), folder)) for path in paths})


def _highest(path: Path, folder: Path) -> Path:
    above = [parent for parent in reversed(path.parents) if not folder.is_relative_to(parent)]
    return above[0] if above and not path.is_relative_to(folder) else path
