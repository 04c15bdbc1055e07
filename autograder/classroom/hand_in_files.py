"""Lists the files of one student's hand-in: in folders, Git repositories, clones of the course and zips."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.classroom.archives import OF_A_STUDENT, ArchiveError, unpack
from autograder.classroom.course_files import COURSE_FILES, COURSE_FOLDERS, is_clone
from autograder.classroom.exports import HandIn
from autograder.classroom.lesson_names import copy_number, lessons_named
from autograder.submission import stem_of
from autograder.wording import enumeration
from course.own import FILE as COURSE_FILE
from course.syllabus import syllabus

MOST_FILES = 200
"""At most this many of a student's files are read; beyond it, only files named like a lesson."""
MOST_LISTED = 20_000
"""At most this many names of a student's files are looked at."""
MOST_ZIPS = 20
"""At most this many of a student's zips are opened."""
MOST_ROWS = 20
"""At most this many of a student's files are listed as not recognised; the rest are counted."""
REST = "…"
"""File name in the row that counts the rest."""
MOST_NAMED = 3
"""At most this many files are named if nothing can be graded."""
MOST_HIDDEN = 2000
"""At most this many entries of a student's hidden folders are looked at."""
OTTER = "__zip_filename__"
"""A file in every zip that Otter's `export` makes: it contains the zip's name. Beside it are the notebook, a PDF of it
and a hidden log."""
OTTERS_TIME = re.compile(r"_(\d{4}_\d\d_\d\dT\d\d_\d\d_\d\d(?:_\d{1,6})?)\b")
MOST_OF_A_NAME = 1000
NOT_WORK = (
    *("__pycache__", "__MACOSX", "__init__.py", "node_modules", "site-packages"),
    *("Thumbs.db", "desktop.ini", "timestamp.txt", "submission_secret.txt"),
    *(OTTER, "progress.json", "kept", COURSE_FILE),
)
"""Names that systems and programs put among a student's files, in addition to hidden ones. The two `.txt` are
nbgrader's; `backprop check`, `reset` and `start` write the last three into a work folder."""
ENVIRONMENT = "pyvenv.cfg"
"""The file that identifies a virtual environment."""
OF_AN_ENVIRONMENT = frozenset({"bin", "include", "lib", "lib64", "share", "etc", "man", "scripts", ENVIRONMENT})
"""What Python and pip put into a virtual environment, in lower case. Some editors let people work in one."""
DEPTH = 8
"""Deepest nesting of folders in a student's folder."""


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A file that was handed in and is not graded."""

    student: str
    file: str
    """Path relative to the student's folder."""
    why: str
    is_work: bool = field(default=False, compare=False)
    """Whether it holds work on a lesson, as far as known."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that was handed in."""

    path: Path
    name: str
    """The student's name for it."""
    shown: str
    """Path relative to the student's folder."""
    note: str = ""
    copy: int = 0
    turn: tuple[str, int] = ("", 0)
    """See `HandIn`."""
    late: bool = False
    at: str = ""
    """See `HandIn`."""
    of_clone: bool = False
    """Whether it is in a clone of the course."""


@dataclass(slots=True)
class Aside:
    """Files of a student that matter only if work is missing without them."""

    hidden: list[File] = field(default_factory=list)
    """Hidden files and folders."""
    of_repository: list[File] = field(default_factory=list)
    """Files of a Git repository other than notebooks, programs and zips."""
    clones: int = 0
    """Number of clones of the course."""


def is_repository(hand_in: HandIn) -> bool:
    """Whether a student's folder is a Git repository."""
    return not hand_in.name and not hand_in.why and os.path.exists(hand_in.path / ".git")


def files_of(
    student: str, hand_ins: list[HandIn], unpacker: Unpacker, rows: list[Unrecognised], aside: Aside
) -> Iterator[File]:
    """Yield a student's files to look at, from folders and zips; append to `rows` those that cannot be looked at."""
    count = 0
    for hand_in in hand_ins:
        if hand_in.why:
            rows.append(Unrecognised(student, hand_in.name, hand_in.why))
            continue
        for file in _files_in(student, hand_in, unpacker, rows, aside, several=len(hand_ins) > 1):
            count += 1
            if count > MOST_LISTED:
                what = f"{file.shown} and those after it were not looked at"
                rows.append(Unrecognised(student, REST, f"more than {MOST_LISTED:,} files were handed in; {what}"))
                return
            if count > MOST_FILES and not lessons_named(stem_of(file.name) or ""):
                what = f"more than {MOST_FILES} files were handed in, and this one's name is no lesson's; not looked at"
                rows.append(Unrecognised(student, file.shown, what))
            else:
                yield file


def _files_in(
    student: str, hand_in: HandIn, unpacker: Unpacker, rows: list[Unrecognised], aside: Aside, *, several: bool
) -> Iterator[File]:
    if hand_in.name:
        given = File(hand_in.path, hand_in.name, hand_in.path.name, hand_in.note, hand_in.copy)
        given = replace(given, late=hand_in.late, at=hand_in.at, turn=hand_in.turn)
        yield from unpacker.opened(student, given, rows, aside)
        return
    below = f"{hand_in.path.name}/" if several and hand_in.turn != ("", 0) else ""
    walked = _walk(student, hand_in.path, below, 0, rows, aside)
    if is_repository(hand_in):
        walked = _possible_work(walked, aside)
    for entry in walked:
        for file in unpacker.opened(student, entry, rows, aside):
            turn = file.turn if hand_in.turn == ("", 0) else hand_in.turn
            yield replace(file, turn=turn, at=hand_in.at)


def work_among(hidden: list[File]) -> Iterator[File]:
    """Yield the hidden files that are named like a lesson. Editors and systems also hide copies of open files."""
    count = 0
    for entry in hidden:
        below = [(entry.path, entry.shown)]
        while below and count < MOST_HIDDEN:
            path, shown = below.pop()
            count += 1
            if path.is_symlink() or path.name == ".git":
                continue
            if path.is_dir():
                with suppress(OSError):
                    below += sorted(((path / name, f"{shown}/{name}") for name in os.listdir(path)), reverse=True)
            elif _is_called_after_a_lesson(path.name):
                yield File(path, path.name, shown)


def _is_called_after_a_lesson(name: str) -> bool:
    """A strict test, because other hidden files, such as a program's own, may have a lesson's topic in their names."""
    stem = (stem_of(name) or "").lstrip("._")
    return stem in syllabus() or (name.lower().endswith((".ipynb", ".zip")) and bool(lessons_named(Path(name).stem)))


def nothing_of(student: str, hand_in: HandIn) -> list[Unrecognised]:
    """A row for a folder in which nothing can be graded; none if the folder is empty."""
    held: list[str] = []
    for folder, folders, files in os.walk(hand_in.path):
        folders[:] = sorted(name for name in folders if name not in (".git", ".github", *NOT_WORK))
        theirs = (name for name in sorted(files) if name not in (".DS_Store", *NOT_WORK) and not name.startswith("._"))
        held += [os.path.relpath(os.path.join(folder, name), hand_in.path) for name in theirs]
        if len(held) > MOST_NAMED:
            break
    if not held:
        return []
    more = ["more"] if len(held) > MOST_NAMED else []
    what = (
        f"nothing in it can be graded, of {enumeration([*held[:MOST_NAMED], *more])}; lessons are .ipynb or .py files"
    )
    return [Unrecognised(student, ".", what)]


def _possible_work(walked: Iterator[File], aside: Aside) -> Iterator[File]:
    for file in walked:
        if _could_be_work(file.name):
            yield file
        elif not file.name.lower().startswith(("readme", "license")) and len(aside.of_repository) <= MOST_ROWS:
            aside.of_repository.append(file)


def _could_be_work(name: str) -> bool:
    """Whether a file of a repository may be a student's work and not the repository's own."""
    return name.lower().endswith((".ipynb", ".py", ".zip")) or bool(lessons_named(stem_of(name) or Path(name).stem))


def _walk(
    student: str,
    folder: Path,
    below: str,
    depth: int,
    rows: list[Unrecognised],
    aside: Aside,
    *,
    of_clone: bool = False,
) -> Iterator[File]:
    """The files in a student's folder and its subfolders, sorted by name."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        rows.append(Unrecognised(student, below or ".", f"the folder cannot be read ({error.strerror})"))
        return
    names = {entry.name for entry in entries}
    clone = "course" in names and is_clone(folder)
    aside.clones += clone
    of_clone |= clone
    environment = ENVIRONMENT in names
    for entry in entries:
        path, shown = folder / entry.name, f"{below}{entry.name}"
        if environment and entry.name.lower() in OF_AN_ENVIRONMENT:
            continue
        if clone and _is_course_entry(entry):
            continue
        if entry.name.startswith(".") or entry.name in NOT_WORK:
            aside.hidden.append(File(path, entry.name, shown))
        elif not _is_folder(entry) or stem_of(entry.name) in syllabus():  # a folder named like a lesson: unreadable
            yield File(path, entry.name, shown, copy=copy_number(stem_of(entry.name) or ""), of_clone=of_clone)
        elif entry.is_symlink():
            rows.append(Unrecognised(student, shown, "a link to a folder; hand in the files themselves"))
        elif depth == DEPTH:
            rows.append(Unrecognised(student, shown, f"more than {DEPTH} folders deep; not looked at"))
        else:
            yield from _walk(student, path, f"{shown}/", depth + 1, rows, aside, of_clone=of_clone)


def _is_course_entry(entry: os.DirEntry[str]) -> bool:
    """Whether an entry at the top of a clone is the course's, where students do not work."""
    if _is_folder(entry):
        return entry.name in COURSE_FOLDERS
    return entry.name in COURSE_FILES or not _could_be_work(entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


class Unpacker:
    """Opens students' zips, each in a folder of its own."""

    def __init__(self, scratch: Path | None) -> None:
        self._scratch = scratch
        self._opened = 0
        self._of: Counter[str] = Counter()
        """Number of zips opened, by student."""
        self._bytes: Counter[str] = Counter()
        """Unpacked bytes by student: a student's zips share the limit of one."""
        self._lost: Counter[str] = Counter()
        """Bytes by student of zips that were too large and removed again."""

    def opened(self, student: str, file: File, rows: list[Unrecognised], aside: Aside) -> Iterator[File]:
        """The files in a zip, or the file itself if it is not a zip."""
        if not file.name.lower().endswith(".zip"):
            yield file
            return
        if self._scratch is None or os.path.islink(file.path) or not os.path.isfile(file.path):
            rows.append(Unrecognised(student, file.shown, "a zip that was not unpacked; hand in the files themselves"))
            return
        self._opened += 1
        self._of[student] += 1
        target, room = self._scratch / f"zip-{self._opened}", 0
        try:
            if self._of[student] > MOST_ZIPS:
                raise ArchiveError(f"more than {MOST_ZIPS} zips were handed in, and this one was not opened")
            if self._lost[student] > OF_A_STUDENT.total_bytes:
                raise ArchiveError("of the zips that were handed in several are too large, and this one was not opened")
            room = OF_A_STUDENT.total_bytes - self._bytes[student]
            unpacked = unpack(file.path, target, replace(OF_A_STUDENT, total_bytes=room))
        except ArchiveError as error:
            self._lost[student] += room
            shutil.rmtree(target, ignore_errors=True)
            rows.append(Unrecognised(student, file.shown, f"{error}; hand in the files themselves"))
            return
        self._bytes[student] += unpacked.total_bytes
        rows += [Unrecognised(student, f"{file.shown}/{name}", why) for name, why in unpacked.left_out]
        if not target.exists():
            rows.append(Unrecognised(student, file.shown, "there is no file in the archive"))
            return
        made, printed = _read_otter_export(target, file.name)
        turn = file.turn if file.turn != ("", 0) else (made, 0)
        for inner in _walk(student, target, f"{file.shown}/", 0, rows, aside):
            if inner.path in printed:
                continue
            if inner.name.lower().endswith(".zip"):
                why = "an archive in an archive; hand in the files themselves"
                rows.append(Unrecognised(student, inner.shown, why))
            else:
                yield replace(inner, note=file.note, late=file.late, at=file.at, turn=turn)


def _read_otter_export(folder: Path, name: str) -> tuple[str, set[Path]]:
    """When Otter made a zip, from its name, and the PDFs made of notebooks; "" and no files for other zips."""
    told = folder / OTTER
    if told.is_symlink() or not told.is_file():
        return "", set()
    with suppress(OSError), told.open(encoding="utf-8", errors="replace") as opened:
        name = opened.read(MOST_OF_A_NAME)
    made = OTTERS_TIME.search(name)
    stems = {file.stem for file in folder.glob("*.ipynb")}
    return made[1] if made else "", {file for file in folder.glob("*.pdf") if file.stem in stems}
