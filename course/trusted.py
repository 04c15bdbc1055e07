"""Which courses that a file names may be served: those that this user has trusted, each with the file that names it.

A `backprop-course.toml` above the working folder may have come with somebody's hand-in, and a course's checks run as
whoever types the command. So such a file is followed, and read at all, only after `backprop trust` has noted it, or a
command of ours has written it. A note says which file it is and which course it names: where the file names another
course later, it is trusted no more. What is noted lies in the user's configuration, a file for each.

A trusted course's files are its author's to change, so their content is not compared: whoever can write to the folder
of a trusted course decides what its checks do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from course.own import FILE, CourseError, course_named, file_upwards

MOST_BYTES = 64 * 1024
"""Of a note: two paths."""


class UntrustedError(CourseError):
    """A file names a course that nobody has trusted; the message says what to type."""


def found_above(folder: Path) -> tuple[Path, Path] | None:
    """The nearest course file in `folder` or above it, and the folder of the course that it names; None without one.

    Raises:
        UntrustedError: it was not trusted; then it has not been read.
        CourseError: it is another user's, or names no course.
    """
    file = file_upwards(folder)
    if file is None:
        return None
    noted = _noted(file)
    if noted is None:
        what = "names a course that you have not trusted; its checks would run as you"
        raise UntrustedError(f"{file} {what}. {_advice(file)}")
    course = _course_of(file)
    if course != noted:
        what = f"named the course in {noted} when you trusted it, and now names {course}"
        raise UntrustedError(f"{file} {what}. {_advice(file)}")
    return file, course


def trust(file: Path) -> Path:
    """Note that a course file is trusted, and return the folder of the course that it names.

    Raises:
        CourseError: it names no course.
        OSError: the note cannot be written.
    """
    import tempfile  # here: each command that is in a course's folder imports this module

    course = _course_of(file)
    note = _note_of(file)
    note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=note.parent)  # which only this user may read
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
    """Take a note back; whether there was one. `OSError` where it cannot be removed."""
    try:
        _note_of(file).unlink()
    except FileNotFoundError:
        return False
    return True


def trusted() -> list[tuple[Path, Path]]:
    """Every file that is trusted, with the course that it named then, by name."""
    with contextlib.suppress(OSError):
        found = (_read(note) for note in _folder().glob("*.json"))
        return sorted((Path(said["file"]), Path(said["course"])) for said in found if said is not None)
    return []


def _advice(file: Path) -> str:
    import shlex

    return f"To trust it: backprop trust {shlex.quote(str(file.parent))}; for this project's own: --course backprop"


def _course_of(file: Path) -> Path:
    course = course_named(str(file))
    assert course is not None  # that is a name, and no file
    return course


def _noted(file: Path) -> Path | None:
    """The course that a trusted file named when it was trusted; None where it is not trusted."""
    try:
        said = _read(_note_of(file))
    except OSError:
        return None
    return Path(said["course"]) if said is not None and said["file"] == str(_place(file)) else None


def _read(note: Path) -> dict[str, str] | None:
    """What a note says; None of one that is damaged, or that another user has written."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if hasattr(os, "geteuid") and note.stat().st_uid != os.geteuid():
            return None
        with note.open(encoding="ascii") as stream:
            said = json.loads(stream.read(MOST_BYTES))
        if isinstance(said, dict) and isinstance(said.get("file"), str) and isinstance(said.get("course"), str):
            return said
    return None


def _place(file: Path) -> Path:
    """Where a course file lies; the file itself may be a link, which leads to no other folder's trust."""
    return Path(os.path.realpath(file.parent)) / FILE


def _note_of(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(_place(file))).hexdigest()
    return _folder() / f"{name}.json"


def _folder() -> Path:
    """Where notes lie. `OSError` where this user has no such place."""
    from platformdirs import user_config_path

    folder = user_config_path("backprop", appauthor=False) / "trusted"
    if not folder.is_absolute():  # it would be another one in each folder, a hand-in's too
        raise OSError(0, "HOME or XDG_CONFIG_HOME is no absolute path", str(folder))
    return folder
