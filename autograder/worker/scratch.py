"""The scratch folders of submissions: whether one has been used, and by how much."""

from __future__ import annotations

import contextlib
import os

_LONGEST_PATH = 1000
"""Characters of a path inside a scratch folder."""
_BLOCK = 512
"""Bytes of what `st_blocks` counts."""


class OwnScratch:
    """File systems that are one submission's each, in turn; one that nothing was put into serves again."""

    def __init__(self, folders: list[str]) -> None:
        self._free = list(folders)
        self._fresh: dict[str, object] = {}

    def take(self) -> str | None:
        """A folder as if nobody had had it; None if none is left."""
        if not self._free:
            return None
        folder = self._free.pop()
        os.utime(folder)  # the time of its last access would tell
        self._fresh[folder] = look(folder)
        return folder

    def give_back(self, folder: str) -> None:
        """Let it serve again if nobody sees that it was used."""
        if look(folder) == self._fresh.pop(folder):
            self._free.append(folder)
        else:
            _free_memory(folder)


def _free_memory(folder: str) -> None:
    """Remove the files of a folder that nobody will have again, as far as that is easy."""
    folders = [folder]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    os.unlink(entry.path)


def look(folder: str) -> tuple[int, int, int] | None:
    """What no one can change and change back: a folder's inode, its size, and the time of its last change."""
    try:
        status = os.stat(folder, follow_symlinks=False)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_ctime_ns


def overfull(folder: str, most_bytes: int, most_entries: int) -> bool:
    """Whether a folder holds more than it may, is nested too deep, or cannot be looked through.

    Bytes are those that its files take, or seem to have if that is more.
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
