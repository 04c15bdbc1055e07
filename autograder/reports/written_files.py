"""Tracks the files that reports write, so that the next report of a class removes outdated ones.

Otherwise the page of a student who left, or a table for a lesson no longer due, would stay and be handed out. Files
that no report wrote, or that were changed since, are left alone.
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
"""The list's file name. It is in the folder of results, since folders of reports may be handed out as they are."""


def take_back(results: Path, out: Path, format_: str, files: Iterable[Path], *, whole_class: bool = True) -> list[str]:
    """Record the files that a report wrote below `out`, and remove those of the previous report that it did not write.

    If the list cannot be written, nothing is removed.

    Args:
        whole_class: False for a report on a single student, which removes nothing.

    Returns:
        The removed files, relative to `out`.
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
    """The list; empty if it is damaged, so that nothing is removed."""
    try:
        data: Any = json.loads(file.read_text(encoding="utf-8"))
        return {str(key): (float(one["at"]), {str(name) for name in one["files"]}) for key, one in data.items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return {}


def _remove(out: Path, name: str, at: float) -> bool:
    """Remove a file below `out` unless it was changed after `at`, and its folder if that becomes empty."""
    file = out / name
    if not file.resolve().is_relative_to(out.resolve()) or not file.is_file() or file.stat().st_mtime > at:
        return False
    file.unlink()
    with suppress(OSError):
        if file.parent != out:
            file.parent.rmdir()
    return True
