"""Which files a report wrote into its folder: the next one of the same class takes back those that it has no more.

Without that, the page of somebody who left the class, or a table for a lesson that is no longer due, would stay there
and be handed out. Files that no report wrote are nobody's business here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from autograder.judging.records.results import write_json

WRITTEN = ".written.json"
"""The name of the list: for each format and folder of results, what was written."""


def take_back(out: Path, format_: str, results: Path, files: Iterable[Path], *, all_of_it: bool = True) -> list[str]:
    """Note what a report wrote below `out`, and remove what the one before it wrote and this one did not.

    Args:
        all_of_it: whether this report was of the whole class; one of a single student takes nothing back.

    Returns:
        The files removed, as seen from `out`.

    Raises:
        OSError: the list cannot be written.
    """
    now = {Path(os.path.relpath(file, out)).as_posix() for file in files}
    listed = _read(out / WRITTEN)
    whose = os.path.relpath(os.path.realpath(results), os.path.realpath(out))
    of_format = listed.setdefault(format_, {})
    before = set(of_format.get(whose, []))
    if not now and not before:
        return []
    of_format[whose] = sorted(now if all_of_it else now | before)
    others = {file for one in listed.values() for files in one.values() for file in files}
    gone = sorted(before - others) if all_of_it else []
    write_json(out / WRITTEN, listed)
    return [file for file in gone if _remove(out, file)]


def _read(file: Path) -> dict[str, dict[str, list[str]]]:
    """The list; of one that is damaged, nothing: then nothing is taken back."""
    try:
        data: Any = json.loads(file.read_text(encoding="utf-8"))
        return {
            format_: {whose: [file for file in files if isinstance(file, str)] for whose, files in folders.items()}
            for format_, folders in data.items()
        }
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return {}


def _remove(out: Path, name: str) -> bool:
    """Remove a file below `out`, and its folder if that is empty then; whether it was there."""
    file = out / name
    if not file.is_file() or not file.resolve().is_relative_to(out.resolve()):
        return False
    file.unlink()
    with suppress(OSError):
        if file.parent != out:
            file.parent.rmdir()
    return True
