"""Files that a command writes into a folder which somebody else may have made: none is written through a link."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def refuse_link(*paths: Path) -> None:
    """`OSError` if any of these is a link, wherever it leads."""
    for path in paths:
        if path.is_symlink():
            raise OSError(errno.ELOOP, f"{path.name} is a link, and none is followed; remove it", str(path))


def write_new(file: Path, text: str, *, inside: Path) -> None:
    """Write a file that is not there, and the folders around it that are `inside` one.

    Raises:
        OSError: it cannot be written, it is there, or it or a folder around it is a link.
    """
    around = [inside / part for part in file.relative_to(inside).parents if part.name]
    refuse_link(*reversed(around), file)
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as opened:
        opened.write(text)
