"""The files in what one student handed in: out of folders, Git repositories, copies of the course and zips."""

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
"""Files of one student that are looked at; of those after them, those alone that are called after a lesson."""
MOST_LISTED = 20_000
"""Files of one student whose names are looked at."""
MOST_ZIPS = 20
"""Zips of one student that are opened."""
MOST_ROWS = 20
"""Files of one student that are listed as not recognised; the others are counted."""
REST = "…"
"""What a row calls the files that are not listed."""
MOST_NAMED = 3
"""Files that are named where nothing can be graded."""
MOST_HIDDEN = 2000
"""Entries of a student's hidden folders that are looked at."""
OTTER = "__zip_filename__"
"""What lies in a zip that Otter's `export` made: its name, beside the notebook, a print of that, and a hidden log."""
OTTERS_TIME = re.compile(r"_(\d{4}_\d\d_\d\dT\d\d_\d\d_\d\d(?:_\d{1,6})?)\b")
MOST_OF_A_NAME = 1000
NOT_WORK = (
    *("__pycache__", "__MACOSX", "__init__.py", "node_modules", "site-packages"),
    *("Thumbs.db", "desktop.ini", "timestamp.txt", "submission_secret.txt"),
    *(OTTER, "progress.json", "kept", COURSE_FILE),
)
"""What systems and programs put among a student's files, beside what begins with a dot: the two `.txt` are nbgrader's,
and the last three are what `backprop check`, `reset` and `start` keep in a work folder."""
ENVIRONMENT = "pyvenv.cfg"
"""By what a virtual environment is known."""
OF_AN_ENVIRONMENT = frozenset({"bin", "include", "lib", "lib64", "share", "etc", "man", "scripts", ENVIRONMENT})
"""What Python and pip put into one, in small letters. Some editors let people work in it."""
DEPTH = 8
"""Folders in a student's folder."""


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A file that was handed in and is not graded."""

    student: str
    file: str
    """Where it lies, below the student's folder."""
    why: str
    is_work: bool = field(default=False, compare=False)
    """Whether it is known to hold work on a lesson."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that was handed in."""

    path: Path
    name: str
    """What the student called it."""
    shown: str
    """Where it lies, below the student's folder."""
    note: str = ""
    copy: int = 0
    turn: tuple[str, int] = ("", 0)
    """As `HandIn` has it."""
    late: bool = False
    at: str = ""
    """When it came, and whether late, as `HandIn` has it."""
    of_clone: bool = False
    """Whether it lies in a copy of the course."""


@dataclass(slots=True)
class Aside:
    """What of a student's is looked at only where something is missing without it."""

    hidden: list[File] = field(default_factory=list)
    """Folders, too."""
    of_repository: list[File] = field(default_factory=list)
    """What a Git repository has beside notebooks and programs."""
    clones: int = 0
    """Copies of the course."""


def is_repository(hand_in: HandIn) -> bool:
    """Whether a student's folder is a Git repository."""
    return not hand_in.name and not hand_in.why and os.path.exists(hand_in.path / ".git")


def files_of(
    student: str, hand_ins: list[HandIn], unpacker: Unpacker, rows: list[Unrecognised], aside: Aside
) -> Iterator[File]:
    """Every file of a student that is to be looked at, out of folders and zips; what cannot be goes to `rows`."""
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
        walked = _work_of_a_repository(walked, aside)
    for entry in walked:
        for file in unpacker.opened(student, entry, rows, aside):
            turn = file.turn if hand_in.turn == ("", 0) else hand_in.turn
            yield replace(file, turn=turn, at=hand_in.at)


def work_among(hidden: list[File]) -> Iterator[File]:
    """The hidden files that are called after a lesson: editors and systems keep copies of what lies open, too."""
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
    """Surely so: what else is hidden, as a program's own files, may have a lesson's topic in its name."""
    stem = (stem_of(name) or "").lstrip("._")
    return stem in syllabus() or (name.lower().endswith((".ipynb", ".zip")) and bool(lessons_named(Path(name).stem)))


def nothing_of(student: str, hand_in: HandIn) -> list[Unrecognised]:
    """A row for a folder in which nothing can be graded; none if nothing was handed in."""
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


def _work_of_a_repository(walked: Iterator[File], aside: Aside) -> Iterator[File]:
    for file in walked:
        if _could_be_work(file.name):
            yield file
        elif not file.name.lower().startswith(("readme", "license")) and len(aside.of_repository) <= MOST_ROWS:
            aside.of_repository.append(file)


def _could_be_work(name: str) -> bool:
    """Whether a file of a repository is one that a learner made: it has many that are the repository's."""
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
    """The files in a student's folder and those in it, in the order of their names."""
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
        if clone and _is_the_courses(entry):
            continue
        if entry.name.startswith(".") or entry.name in NOT_WORK:
            aside.hidden.append(File(path, entry.name, shown))
        elif (
            not _is_folder(entry) or stem_of(entry.name) in syllabus()
        ):  # a folder for a lesson's file: it is unreadable
            yield File(path, entry.name, shown, copy=copy_number(stem_of(entry.name) or ""), of_clone=of_clone)
        elif entry.is_symlink():
            rows.append(Unrecognised(student, shown, "a link to a folder; hand in the files themselves"))
        elif depth == DEPTH:
            rows.append(Unrecognised(student, shown, f"more than {DEPTH} folders deep; not looked at"))
        else:
            yield from _walk(student, path, f"{shown}/", depth + 1, rows, aside, of_clone=of_clone)


def _is_the_courses(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a clone's top is one that no learner works in."""
    if _is_folder(entry):
        return entry.name in COURSE_FOLDERS
    return entry.name in COURSE_FILES or not _could_be_work(entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


class Unpacker:
    """Opens the zips that students hand in, each into a folder of its own."""

    def __init__(self, scratch: Path | None) -> None:
        self._scratch = scratch
        self._opened = 0
        self._of: Counter[str] = Counter()
        """Zips opened, by student."""
        self._bytes: Counter[str] = Counter()
        """What lies unpacked, by student: their zips share the bound of one."""
        self._lost: Counter[str] = Counter()
        """What was unpacked in vain, of zips that are too large."""

    def opened(self, student: str, file: File, rows: list[Unrecognised], aside: Aside) -> Iterator[File]:
        """The files in a zip; any other file is itself."""
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
        made, printed = _by_otter(target, file.name)
        turn = file.turn if file.turn != ("", 0) else (made, 0)
        for inner in _walk(student, target, f"{file.shown}/", 0, rows, aside):
            if inner.path in printed:
                continue
            if inner.name.lower().endswith(".zip"):
                why = "an archive in an archive; hand in the files themselves"
                rows.append(Unrecognised(student, inner.shown, why))
            else:
                yield replace(inner, note=file.note, late=file.late, at=file.at, turn=turn)


def _by_otter(folder: Path, name: str) -> tuple[str, set[Path]]:
    """When Otter made a zip, as the name says that it gave, and the notebooks that it printed; of others nothing."""
    told = folder / OTTER
    if told.is_symlink() or not told.is_file():
        return "", set()
    with suppress(OSError), told.open(encoding="utf-8", errors="replace") as opened:
        name = opened.read(MOST_OF_A_NAME)
    made = OTTERS_TIME.search(name)
    stems = {file.stem for file in folder.glob("*.ipynb")}
    return made[1] if made else "", {file for file in folder.glob("*.pdf") if file.stem in stems}
