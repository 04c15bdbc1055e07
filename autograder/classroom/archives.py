"""Unpacks zips that students hand in, within fixed limits and never outside the target folder."""

from __future__ import annotations

import errno
import io
import os
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from autograder.submission import MAX_BYTES
from autograder.wording import clean

PART = 2**18
"""Bytes unpacked at a time."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The methods that platforms and operating systems use. With others, an archive decides how much memory unpacking
takes."""
DEPTH = 16
"""Deepest nesting of folders in an archive."""
ENTRY_BYTES = 1024
"""Bytes of an archive's central directory allowed per entry: a long file name and the extra fields that systems add."""
NAME_SHOWN = (300, 60)
"""Characters kept of the start and the end of a left-out entry's name, which may have 64 KiB."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""Errors that concern the whole disk, so every later entry would fail, too."""


class ArchiveError(ValueError):
    """An archive that cannot be unpacked; the message says why and what to do."""


@dataclass(frozen=True)
class Bounds:
    """Limits for unpacking one archive."""

    archive_bytes: int
    entries: int
    total_bytes: int
    """Size of all unpacked files together."""


OF_A_CLASS = Bounds(archive_bytes=2 * 2**30, entries=50_000, total_bytes=4 * 2**30)
OF_A_STUDENT = Bounds(archive_bytes=4 * MAX_BYTES, entries=500, total_bytes=10 * MAX_BYTES)


class Unpacked(NamedTuple):
    """The result of unpacking an archive."""

    left_out: list[tuple[str, str]]
    """The name of each entry that was left out, and why."""
    total_bytes: int
    """Size of all files written."""


def unpack(archive: Path, into: Path, bounds: Bounds) -> Unpacked:
    """Unpack a zip into the folder `into`, which is created if it does not exist.

    Sizes and counts that the archive states are not trusted. An archive that exceeds `bounds` is refused: a class's
    archive may have 2 GiB, 50,000 entries and 4 GiB unpacked, a student's 40 MiB, 500 entries and 100 MiB. The central
    directory may have 1 KiB per entry, which is checked before the entries are counted. A file of more than 10 MiB is
    cut off just above that size, which is still too large to be graded. Left out are links, devices, encrypted files,
    compression methods other than deflate, names that lead out of the folder (`..`, `/`, `C:`) or more than 16 folders
    deep, and the second of two entries with the same name.

    Raises:
        ArchiveError: not a zip, damaged, unreadable, or above the limits. Files unpacked until then stay in `into`.
        OSError: the disk is full or not writable.
    """
    left_out: list[tuple[str, str]] = []
    room = bounds.total_bytes
    try:
        size = archive.stat().st_size
        if size > bounds.archive_bytes:
            limit = bounds.archive_bytes // 2**20
            raise ArchiveError(f"the archive has {size / 2**20:.0f} MiB, and {limit} are the limit")
        with _Bounded(archive, bounds.entries) as file, zipfile.ZipFile(file) as opened:
            entries = opened.infolist()
            if len(entries) > bounds.entries:
                raise ArchiveError(f"the archive has {len(entries):,} entries, and {bounds.entries:,} are the limit")
            for entry in entries:
                if entry.is_dir():
                    continue
                why = _refused(entry)
                if not why:
                    try:
                        room -= _write(opened, entry, into, room)
                    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
                        if isinstance(error, ArchiveError) or getattr(error, "errno", None) in NO_ROOM:
                            raise
                        why = f"it cannot be unpacked ({_line(error)})"
                if why:
                    left_out.append((_shown(entry.filename), why))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise ArchiveError(f"this is no zip that can be unpacked ({_line(error)})") from None
    except OSError as error:
        if error.errno in NO_ROOM:
            raise
        raise ArchiveError(f"the archive cannot be read ({_line(error)})") from None
    return Unpacked(left_out, bounds.total_bytes - room)


class _Bounded(io.BufferedReader):
    """An archive's file that refuses to read a central directory too long for the allowed number of entries.

    `zipfile` reads the whole directory, however long the archive says it is, before its entries can be counted.
    """

    def __init__(self, archive: Path, entries: int) -> None:
        super().__init__(io.FileIO(archive))
        self._entries = entries

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, os.fstat(self.fileno()).st_size - self.tell())
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > max(self._entries * ENTRY_BYTES, PART):
            raise ArchiveError(
                f"the archive's list has {wanted / 2**20:.0f} MiB, too much for {self._entries:,} entries, the limit"
            )
        return super().read(size)


def _shown(name: str) -> str:
    first, last = NAME_SHOWN
    return name if len(name) <= first + last else f"{name[:first]}…{name[-last:]}"


def _refused(entry: zipfile.ZipInfo) -> str:
    """Why an entry is left out; empty if it may be unpacked."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "a link or a device, and no file"
    if entry.flag_bits & 1:
        return "it is encrypted; hand it in without a password"
    if entry.compress_type not in METHODS:
        return "it is packed in an unusual way; zip it with your system's own program"
    if _parts(entry.filename) is None:
        return "its name leads out of the archive, or too deep into it"
    return ""


def _parts(name: str) -> list[str] | None:
    """The parts of an entry's path; None if it leads out of the target folder or too deep."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    outside = name.startswith(("/", "\\")) or ".." in parts or "\0" in name or (parts and parts[0].endswith(":"))
    return None if outside or not 0 < len(parts) <= DEPTH else parts


def _write(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, into: Path, room: int) -> int:
    """Unpack one file and return its size in bytes. Raises `FileExistsError` if a file of that name exists."""
    parts = _parts(entry.filename)
    assert parts is not None
    target = into.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with target.open("xb") as file:
        try:
            with opened.open(entry) as source:
                while written <= MAX_BYTES and (part := source.read(min(PART, MAX_BYTES + 1 - written))):
                    written += len(part)
                    if written > room:
                        raise ArchiveError("the archive is larger than the limit when it is unpacked")
                    file.write(part)
        except BaseException:
            target.unlink()  # leave no partial file
            raise
    return written


def _line(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return clean(" ".join(text.split()) or type(error).__name__, 100)
