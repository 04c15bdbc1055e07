"""Which files a report wrote into its folder: the next one of the same class takes back those that it has no more.

Without that, the page of somebody who left the class, or a table for a lesson that is no longer due, would stay there
and be handed out. Files that no report wrote, or that somebody changed since, are nobody's business here.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from autograder.judging.records.results import write_json

WRITTEN = ".written-reports"
"""The list, in the folder of results: a folder for reports may be handed out as it is. No student is called so."""


def take_back(results: Path, out: Path, format_: str, files: Iterable[Path], *, whole_class: bool = True) -> list[str]:
    """Note what a report wrote below `out`, and remove what the one before it wrote and this one did not.

    Where the list cannot be written, nothing is noted and nothing removed.

    Args:
        whole_class: a report of a single student takes nothing back.

    Returns:
        The files removed, as seen from `out`.
    """
    now = {Path(os.path.relpath(file, out)).as_posix() for file in files}
    listed = _read(results / WRITTEN)
    key = f"{format_} {os.path.relpath(os.path.realpath(out), os.path.realpath(results))}"
    at, before = listed.get(key, (0.0, set()))
    if not now and not before:
        return []
    listed[key] = time.time(), now if whole_class else now | before
    data = {key: {"at": at, "files": sorted(files)} for key, (at, files) in listed.items()}
    try:
        write_json(results / WRITTEN, data)
    except OSError:
        return []
    return [file for file in sorted(before - now) if _remove(out, file, at)] if whole_class else []


def _read(file: Path) -> dict[str, tuple[float, set[str]]]:
    """The list; of one that is damaged, nothing: then nothing is taken back."""
    try:
        data: Any = json.loads(file.read_text(encoding="utf-8"))
        return {str(key): (float(one["at"]), {str(name) for name in one["files"]}) for key, one in data.items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return {}


def _remove(out: Path, name: str, at: float) -> bool:
    """Remove a file below `out` that is as it was at that time, and its folder if that is empty then."""
    file = out / name
    if not file.resolve().is_relative_to(out.resolve()) or not file.is_file() or file.stat().st_mtime > at:
        return False
    file.unlink()
    with suppress(OSError):
        if file.parent != out:
            file.parent.rmdir()
    return True
