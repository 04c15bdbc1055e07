"""Records which course files this user trusts.

A `backprop-course.toml` above the working folder may have come with somebody's hand-in, and a course's checks run with
the user's rights. So such a file is read only if the user has trusted it with `backprop trust`, or if a command of ours
wrote it. For each trusted file there is a note in the user's configuration, with the course that it named: if the file
later names another course, it is no longer trusted.

The content of a trusted course is not compared, because its author may change it: whoever can write to its folder
decides what its checks do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from course.own import FILE, CourseError, course_named, file_upwards

MOST_BYTES = 64 * 1024
"""Limit on the size of a note, which has two paths."""


class UntrustedError(CourseError):
    """A file names a course that this user has not trusted; the message says what to type."""


def found_above(folder: Path) -> tuple[Path, Path] | None:
    """The nearest course file in `folder` or above it, and the folder of the course that it names; None if none.

    Raises:
        UntrustedError: the file is not trusted, and so was not read, or it names another course than when it was.
        CourseError: the file belongs to another user, or names no course.
    """
    file = file_upwards(folder)
    if file is None:
        return None
    noted = _trusted_course(file)
    if noted is None:
        what = "names a course that you have not trusted; its checks would run as you"
        raise UntrustedError(f"{file} {what}. {_advice(file)}")
    course = _course_of(file)
    if course != noted:
        what = f"named the course in {noted} when you trusted it, and now names {course}"
        raise UntrustedError(f"{file} {what}. {_advice(file)}")
    return file, course


def trust(file: Path) -> Path:
    """Record that a course file is trusted, and return the folder of the course that it names.

    Raises:
        CourseError: it names no course.
        OSError: the note cannot be written.
    """
    import tempfile  # here because most commands import this module and do not need it

    course = _course_of(file)
    note = _note_of(file)
    note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=note.parent)  # readable by this user only
    try:
        with open(handle, "w", encoding="ascii") as stream:
            json.dump({"file": str(_place(file)), "course": str(course)}, stream)
        os.replace(temporary, note)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return course


def distrust(file: Path) -> bool:
    """Remove the note of a course file; return whether there was one. `OSError` if it cannot be removed."""
    try:
        _note_of(file).unlink()
    except FileNotFoundError:
        return False
    return True


def trusted() -> list[tuple[Path, Path]]:
    """All trusted files, sorted, each with the course that it named when it was trusted."""
    with contextlib.suppress(OSError):
        found = (_read(note) for note in _folder().glob("*.json"))
        return sorted((Path(said["file"]), Path(said["course"])) for said in found if said is not None)
    return []


def _advice(file: Path) -> str:
    import shlex

    return f"To trust it: backprop trust {shlex.quote(str(file.parent))}; for this project's own: --course backprop"


def _course_of(file: Path) -> Path:
    course = course_named(str(file))
    assert course is not None  # only the name `backprop` gives None, and this is a path
    return course


def _trusted_course(file: Path) -> Path | None:
    """The course that a file named when it was trusted; None if it is not trusted."""
    try:
        said = _read(_note_of(file))
    except OSError:
        return None
    return Path(said["course"]) if said is not None and said["file"] == str(_place(file)) else None


def _read(note: Path) -> dict[str, str] | None:
    """The content of a note; None if it is damaged or belongs to another user."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if hasattr(os, "geteuid") and note.stat().st_uid != os.geteuid():
            return None
        with note.open(encoding="ascii") as stream:
            said = json.loads(stream.read(MOST_BYTES))
        if isinstance(said, dict) and isinstance(said.get("file"), str) and isinstance(said.get("course"), str):
            return said
    return None


def _place(file: Path) -> Path:
    """The real path of a course file's folder, with `FILE`: a link to a file elsewhere does not share its trust."""
    return Path(os.path.realpath(file.parent)) / FILE


def _note_of(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(_place(file))).hexdigest()
    return _folder() / f"{name}.json"


def _folder() -> Path:
    """The folder of notes. `OSError` if this user has no absolute configuration folder."""
    from platformdirs import user_config_path

    folder = user_config_path("backprop", appauthor=False) / "trusted"
    if not folder.is_absolute():  # a relative one would depend on the working folder, which may be a hand-in
        raise OSError(0, "HOME or XDG_CONFIG_HOME is no absolute path", str(folder))
    return folder
