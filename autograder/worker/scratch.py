"""The scratch folders of submissions: whether one has been used, and whether it is too full."""

from __future__ import annotations

import contextlib
import os

_LONGEST_PATH = 1000
"""Longest path inside a scratch folder, in characters."""
_BLOCK = 512
"""Unit of `st_blocks`, in bytes."""


class OwnScratch:
    """Scratch file systems, each lent to one submission at a time; an unused one is lent again."""

    def __init__(self, folders: list[str]) -> None:
        self._free = list(folders)
        self._fresh: dict[str, object] = {}

    def take(self) -> str | None:
        """An empty folder without traces of earlier submissions; None if none is left."""
        if not self._free:
            return None
        folder = self._free.pop()
        os.utime(folder)  # its access time would reveal an earlier submission
        self._fresh[folder] = look(folder)
        return folder

    def give_back(self, folder: str) -> None:
        """Return a folder: it is lent again if it was not changed, else emptied."""
        if look(folder) == self._fresh.pop(folder):
            self._free.append(folder)
        else:
            _free_memory(folder)


def _free_memory(folder: str) -> None:
    """Remove the files of a folder that is not lent again; files that cannot be removed stay."""
    folders = [folder]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    os.unlink(entry.path)


def look(folder: str) -> tuple[int, int, int] | None:
    """A folder's inode, size and change time, which reveal any use: a submission cannot set the change time."""
    try:
        status = os.stat(folder, follow_symlinks=False)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_ctime_ns


def overfull(folder: str, most_bytes: int, most_entries: int) -> bool:
    """Whether a folder contains more than its limits, is nested too deeply, or cannot be read.

    A file counts with its allocated or its apparent size in bytes, whichever is larger.
    """
    folders, size, entries = [folder], 0, 0
    while folders:
        inner = folders.pop()
        if len(inner) > len(folder) + _LONGEST_PATH:
            return True
        try:
            with os.scandir(inner) as found:
                for entry in found:
                    entries += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        status = entry.stat(follow_symlinks=False)
                        size += max(status.st_size, status.st_blocks * _BLOCK)
                    if size > most_bytes or entries > most_entries:
                        return True
        except FileNotFoundError:  # removed meanwhile
            continue
        except OSError:
            return True
    return False
