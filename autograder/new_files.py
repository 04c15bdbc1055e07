"""Writes files into folders that somebody else may have made, without following symbolic links."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def leads_out(path: Path) -> bool:
    """Whether a path below the working directory leaves it through a link, which somebody else may have made.

    A path outside the working directory does not count: the user who typed it knows where it is.
    """
    here = Path.cwd()
    return Path(os.path.abspath(path)).is_relative_to(here) and not _real(path).is_relative_to(_real(here))


def refuse_way_out(path: Path) -> None:
    """Raise `OSError` if a path leads out of the working directory by a link."""
    if leads_out(path):
        raise OSError(errno.ELOOP, f"a link leads out of this folder, to {_real(path)}; go there first", str(path))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def refuse_link(*paths: Path) -> None:
    """Raise `OSError` if any of these paths is a symbolic link."""
    for path in paths:
        if path.is_symlink():
            raise OSError(errno.ELOOP, f"{path.name} is a link, and none is followed; remove it", str(path))


def write_new(file: Path, text: str, *, inside: Path) -> None:
    """Write a new file, and create the folders between it and the folder `inside`.

    Raises:
        OSError: the file exists or cannot be written, or it or one of these folders is a symbolic link.
    """
    around = [inside / part for part in file.relative_to(inside).parents if part.name]
    refuse_link(*reversed(around), file)
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as opened:
        opened.write(text)
