"""What hostile submissions may leave behind, for the tests that look for it."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import psutil


def processes_of(folder: Path) -> list[str]:
    """The processes with `folder` in their arguments or environment, and those that are forked from such."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            if str(folder) in " ".join([*process.cmdline(), *process.environ().values()]):
                found.append(f"{process.pid} {process.name()} {process.cmdline()[:4]}")
        except psutil.Error:
            continue
    return found


def written_by_submissions(name: str, below: str) -> list[Path]:
    """The files of that name that running submissions have in their own folders, whose paths begin with `below`.

    What lies there has a file system of its own, which only their processes show.
    """
    found = []
    for process in psutil.process_iter(["name"]):
        place = f"/proc/{process.pid}/cwd"
        try:
            if process.info["name"] == "bp-submission" and os.readlink(place).startswith(below):
                found += [Path(place, name)] if os.path.exists(f"{place}/{name}") else []
        except OSError:  # it has ended
            continue
    return found


def look(path: Path) -> tuple[Any, ...]:
    """All that a submission might have changed of a file or folder."""
    status = path.stat()
    content = path.read_bytes() if path.is_file() else sorted(os.listdir(path))
    return content, status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, os.listxattr(path)


def left_behind() -> set[str]:
    """What outlives a process in the kernel, by the names and keys that the hostile submissions use."""
    libc = ctypes.CDLL("librt.so.1")
    found = set()
    for name in (b"backprop-red-team", b"owned", b"left"):
        queue = libc.mq_open(b"/" + name, os.O_RDONLY)
        if queue >= 0:
            os.close(queue)
            libc.mq_unlink(b"/" + name)  # or the next run would find it, too
            found.add(f"message queue {name.decode()}")
    for kind in ("shm", "sem", "msg"):
        for line in Path("/proc/sysvipc", kind).read_text().splitlines()[1:]:
            if int(line.split()[0]) in (0xBAC, 0x1234):
                found.add(f"{kind} {line.split()[0]}")
    keys = Path("/proc/keys").read_text() if Path("/proc/keys").exists() else ""
    found |= {f"key {line}" for line in keys.splitlines() if "backprop-red-team" in line}
    found |= {
        f"abstract socket {line}" for line in Path("/proc/net/unix").read_text().split() if line == "@backprop-red-team"
    }
    for folder in ("/dev/shm", "/tmp", "/run", "/var/tmp", "/root"):
        if os.access(folder, os.R_OK):
            found |= {f"{folder}/{name}" for name in os.listdir(folder) if "backprop-red" in name or name == "owned"}
    return found
