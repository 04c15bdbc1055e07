"""Finds the class folder in what was given: that folder, or one that a platform or system wrapped in it.

A folder that is alone in a class folder may look like an export, with classmates' names, and still be one student's, so
only the instructor can decide.
"""

from __future__ import annotations

import os
from pathlib import Path

from autograder.classroom.blackboard_names import BLACKBOARD
from autograder.classroom.exports import METADATA, MOODLE, NBGRADER, is_hidden
from autograder.classroom.platform_names import BRIGHTSPACE, CANVAS
from autograder.submission import stem_of

MOST_AROUND = 4
"""At most this many wrapping folders are entered."""


class ClassUnclearError(ValueError):
    """The folder given may be a class or one student's; the message says what to type."""


def class_in(folder: Path, *, archive: str | None, export: bool | None) -> Path:
    """The class folder in what was given.

    Args:
        archive: name of the zip unpacked into `folder`; None if it is not from a zip.
        export: whether `folder` is a platform's export or contains just one; None if the instructor did not say.

    Raises:
        ClassUnclearError: the only folder in it may be a class or a student, and `export` is None.
        OSError: a folder cannot be read.
    """
    within = _only_folder_in(folder)
    if within is None or export is False:
        return folder
    if not export:
        if _looks_like_a_class(within, archive):
            raise ClassUnclearError(
                f"the one folder in it, {within.name}, may be a platform's export or a student's: type --export if it "
                f"is an export, --no-export if {within.name} is a student"
            )
        return folder
    if not (_looks_like_a_class(within, archive) or (_may_hold_students(within) and not _is_platforms(folder.name))):
        return folder
    for _ in range(MOST_AROUND):
        deeper = _only_folder_in(within)
        if deeper is None or not _looks_like_a_class(deeper, None):
            break
        within = deeper
    return within


def _only_folder_in(folder: Path) -> Path | None:
    """The only entry of a folder apart from hidden ones, if it is a folder; else None."""
    with os.scandir(folder) as found:
        entries = [entry for entry in found if not is_hidden(entry.name)]
    if len(entries) != 1 or entries[0].is_symlink() or not entries[0].is_dir():
        return None
    return folder / entries[0].name


def _is_platforms(name: str) -> bool:
    return name.endswith("-submissions") or name == NBGRADER


def _may_hold_students(folder: Path) -> bool:
    """Whether a folder can be a class: not a repository or a student's Moodle or Brightspace folder, no work in it."""
    names = os.listdir(folder)
    work = any(stem_of(name) for name in names if not is_hidden(name) and (folder / name).is_file())
    is_a_students = MOODLE.fullmatch(folder.name) or BRIGHTSPACE.fullmatch(folder.name)
    return not (".git" in names or is_a_students or work)


def _looks_like_a_class(folder: Path, archive: str | None) -> bool:
    """Whether the only folder looks like an export of a platform or an instructor's zip of a class."""
    names = [name for name in os.listdir(folder) if not is_hidden(name) or name == ".git"]
    if ".git" in names or MOODLE.fullmatch(folder.name) or BRIGHTSPACE.fullmatch(folder.name):
        return False
    files = [name for name in names if (folder / name).is_file()]
    if METADATA in names or any(map(CANVAS.fullmatch, files)) or any(map(MOODLE.fullmatch, names)):
        return True
    if any(map(BLACKBOARD.fullmatch, files)) or any(map(BRIGHTSPACE.fullmatch, names)):
        return True
    if any(map(stem_of, files)):
        return False
    return _is_platforms(folder.name) or (
        archive is not None and (folder.name == archive or len(names) - len(files) != 1)
    )
