"""What hostile submissions may leave behind, for the tests that look for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil


def processes_of(folder: Path) -> list[str]:
    """The processes that were started with `folder` in their arguments or environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            if str(folder) in " ".join([*process.cmdline(), *process.environ().values()]):
                found.append(f"{process.pid} {process.cmdline()[:4]}")
        except psutil.Error:
            continue
    return found


def look(path: Path) -> tuple[Any, ...]:
    """All that a submission might have changed of a file or folder."""
    status = path.stat()
    content = path.read_bytes() if path.is_file() else sorted(os.listdir(path))
    return content, status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, os.listxattr(path)
