"""What a command costs with all that it starts: processor time, wall time and memory.

Processor time is user and system time of the command and of every descendant, whatever its process group or session:
this process becomes the reaper of all of them (PR_SET_CHILD_SUBREAPER), so that each is waited for, and the kernel adds
a process to its parent's account when it is waited for. What no one waits for (a parent that ignores SIGCHLD) would be
missed, so that the account of a control group, where one can be made, is taken as well; the two must agree.
`self_check` shows that a detached grandchild counts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.25
"""How often the memory of all processes is added up: each time costs some milliseconds, on a processor of its own."""
AGREEMENT = 0.05
"""How far the two accounts may be apart, as a share of the larger."""


class MeasuringError(RuntimeError):
    """The figures would be wrong; the message says why."""


@dataclass(frozen=True)
class Usage:
    """What one run of a command took."""

    cpu: float
    """Seconds, of all processes."""
    wall: float
    peak: float
    """MiB: the largest sum of the PSS of all processes at a time, where a page that n share counts 1/n in each."""
    own_peak: float
    """MiB: the largest RSS of the command's first process."""
    group_cpu: float | None
    """Seconds by the control group's account; None where no group can be made."""
    output: str
    first: float | None = None
    """Seconds until what was waited for (`until` of `measure`) was there."""


def measure(
    command: list[str],
    *,
    cwd: Path,
    env: dict[str, str] | None = None,
    until: Callable[[], bool] | None = None,
) -> Usage:
    """Run a command to its end. `MeasuringError` if it fails, or if its processes cannot all be accounted for."""
    _become_reaper()
    inherited = dict(os.environ)
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)  # as users run it
    with _group() as group, tempfile.TemporaryFile("w+") as output:
        enter = f"echo $$ > {group.procs} && " if group else ""  # the shell enters, and becomes the command
        before, start = children_cpu(), time.perf_counter()
        process = subprocess.Popen(
            ["sh", "-c", f'{enter}exec "$@"', "sh", *command],
            cwd=cwd,
            env={**inherited, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        sampler = _Sampler(process.pid, start, until)
        status = process.wait()
        wall = time.perf_counter() - start
        sampler.stop()
        _reap()
        cpu = children_cpu() - before
        group_cpu = group.cpu() if group else None
        output.seek(0)
        said = output.read()
    if status != 0:
        raise MeasuringError(f"{command[0]} … ended with status {status}:\n{said[-3000:]}")
    if group_cpu is not None and abs(group_cpu - cpu) > max(AGREEMENT * max(group_cpu, cpu), 0.05):
        raise MeasuringError(f"processor time by wait: {cpu:.2f} s, by control group: {group_cpu:.2f} s ({command})")
    return Usage(cpu, wall, sampler.peak, sampler.own_peak, group_cpu, said, sampler.first)


def self_check() -> str:
    """Burn a second in a detached grandchild whose parent is gone, and see it counted; a line that says so."""
    burn = "import time\nwhile time.process_time() < 1: pass"
    middle = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}], start_new_session=True)"
    top = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {middle!r}], start_new_session=True)"
    used = measure([sys.executable, "-S", "-c", top], cwd=Path.cwd())
    if not 1.0 <= used.cpu < 1.5:
        raise MeasuringError(f"a detached grandchild that takes 1 s of processor time counts as {used.cpu:.2f} s")
    group = "no control group to compare with" if used.group_cpu is None else f"{used.group_cpu:.2f} s by control group"
    return f"a detached, orphaned grandchild that burns 1 s counts as {used.cpu:.2f} s ({group})"


class _Sampler(threading.Thread):
    """Adds up the memory of a process and its descendants until it is stopped."""

    def __init__(self, pid: int, start: float, until: Callable[[], bool] | None) -> None:
        super().__init__(daemon=True)
        self.peak = self.own_peak = 0.0
        self.first: float | None = None
        self._pid = pid
        self._since = start
        self._until = until
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        next_sum = time.perf_counter()
        while not self._ended.wait(0.02):
            self.own_peak = max(self.own_peak, _own_peak(self._pid))
            if self._until is not None and self.first is None and self._until():
                self.first = time.perf_counter() - self._since
            if time.perf_counter() >= next_sum:
                self.peak = max(self.peak, sum(_pss(p) for p in psutil.Process().children(recursive=True)))
                next_sum = time.perf_counter() + SAMPLE_SECONDS

    def stop(self) -> None:
        self._ended.set()
        self.join()


@dataclass(frozen=True)
class _Group:
    """A control group of our own."""

    folder: Path

    @property
    def procs(self) -> Path:
        return self.folder / "cgroup.procs"

    def cpu(self) -> float:
        """Seconds of all processes that were ever in it."""
        with contextlib.suppress(OSError):
            return int((self.folder / "cpuacct.usage").read_text()) / 1e9
        stat = dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        return int(stat["usage_usec"]) / 1e6


class _group(contextlib.AbstractContextManager["_Group | None"]):  # noqa: N801, used as a function
    """A fresh control group with an account of processor time (version 1 or 2), or None where we may make none."""

    def __enter__(self) -> _Group | None:
        self.group: _Group | None = None
        root = Path("/sys/fs/cgroup")
        for parent in (root / "cpuacct", root):
            group = _Group(parent / f"benchmark-{os.getpid()}")
            try:
                group.folder.mkdir()
                if group.procs.exists() and group.cpu() == 0:
                    self.group = group
                    return group
                group.folder.rmdir()
            except (OSError, KeyError, ValueError):
                with contextlib.suppress(OSError):
                    group.folder.rmdir()
        return None

    def __exit__(self, *_: object) -> None:
        if self.group is not None:
            with contextlib.suppress(OSError):
                self.group.folder.rmdir()


def _become_reaper() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise MeasuringError("this kernel has no child subreapers, so that orphans would not be counted; use Linux")


def _reap(seconds: float = 30.0) -> None:
    """Wait for what the command left behind."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return
    raise MeasuringError("the command left processes behind that do not end")


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _pss(process: psutil.Process) -> float:
    """MiB; 0 for a process that is gone."""
    try:
        return float(process.memory_full_info().pss) / 2**20
    except psutil.Error:
        return 0.0


def _own_peak(pid: int) -> float:
    """MiB: the largest RSS that a process had so far."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0
