"""A class folder, or the zip that a learning platform exports: what is graded, as which lesson, and what is not."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.classroom.archives import OF_A_CLASS, OF_A_STUDENT, ArchiveError, unpack
from autograder.classroom.exports import UNKNOWN, HandIn, hand_ins_of, inside
from autograder.classroom.lesson_names import copy_number, lessons_named, lessons_within
from autograder.submission import SCRIPTS, SubmissionError, read_bytes, read_submission, stem_of
from autograder.wording import clean, enumeration
from course.syllabus import syllabus

MOST_FILES = 200
"""Files of one student that are looked at; of those after them, those alone that are called after a lesson."""
MOST_LISTED = 20_000
"""Files of one student whose names are looked at."""
MOST_TRIED = 5
"""Files of one student for one lesson that are read, until one of them can be."""
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
NOT_WORK = ("__pycache__", "__MACOSX", "__init__.py", "Thumbs.db", "desktop.ini", "timestamp.txt")
"""What systems and programs put among a student's files, beside what begins with a dot; the last is nbgrader's."""
NO_LESSON = "no lesson of that name; lessons are .ipynb or .py files"
DEPTH = 8
"""Folders in a student's folder."""


@dataclass(frozen=True, slots=True)
class Work:
    """One file to grade."""

    lesson: str
    student: str
    file: Path
    remark: str = ""
    """What the result says of how the file was found."""


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A file that was handed in and is not graded."""

    student: str
    file: str
    """Where it lies, below the student's folder."""
    why: str


@dataclass
class ClassFolder:
    """What there is in a class folder."""

    work: list[Work] = field(default_factory=list)
    """By student and lesson."""
    not_recognised: list[Unrecognised] = field(default_factory=list)
    """By student."""
    remarks: list[str] = field(default_factory=list)
    """A line for each thing that nobody handed in."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    name: str
    """What the student called it."""
    shown: str
    """Where it lies, below the student's folder."""
    note: str = ""
    copy: int = 0


@dataclass(frozen=True, slots=True)
class _Aside:
    """What of a student's is looked at only where something is missing without it."""

    hidden: list[_File] = field(default_factory=list)
    """Folders, too."""
    of_repository: list[_File] = field(default_factory=list)
    """What a Git repository has beside notebooks and programs."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A file that can be one lesson, and how sure that is: 0 by its exact name, 1 by its name, 2 by what is in it."""

    file: _File
    lesson: str
    doubt: int

    @property
    def reasons(self) -> tuple[tuple[object, str], ...]:
        """What makes one better than another, the smaller the better, and how that is said."""
        by = ("its name is the lesson's", "its name says the lesson", "")
        return (
            (self.doubt, by[self.doubt]),
            (self.file.name.lower().endswith(SCRIPTS), "a notebook goes before a Python file"),
            (-self.file.copy, "its number is higher"),
            (self.file.shown.count("/"), "it lies less deep"),
            (self.file.shown, "its name comes first"),
            (str(self.file.path), "its folder comes first"),  # a student may have handed in twice
        )


def find_work(folder: Path, *, scratch: Path | None = None) -> ClassFolder:
    """The submissions in `folder`, which may be a zip: by student and lesson, and what is none.

    A file that can only be one lesson, by its name or by the exercises in it, is that lesson. Folders are listed, and
    only files whose names say nothing are looked at: a class of thousands is known in a moment.

    Args:
        scratch: where zips are unpacked; without, they are not. `archives.unpack` says within which bounds.

    Raises:
        OSError: the folder cannot be read, or zips cannot be unpacked.
        ArchiveError: the class's own zip is none, or too large.
    """
    found = ClassFolder()
    called = folder
    left_out: list[tuple[str, str]] = []
    if scratch is not None and folder.is_file():
        target = scratch / "class" / folder.stem
        left_out = unpack(folder, target, OF_A_CLASS).left_out
        target.mkdir(parents=True, exist_ok=True)
        folder = inside(target, unpacked=True)
        around = f"{folder.relative_to(target).as_posix()}/" if folder != target else ""
        left_out = [(name.removeprefix(around), why) for name, why in left_out]
    else:
        folder = inside(folder, unpacked=False)
    folder = Path(os.path.realpath(folder))  # `..` and links have no name of their own, by which files are inside
    hand_ins, remarks = hand_ins_of(folder, left_out)
    found.remarks += [remark.replace(str(folder), str(called), 1) for remark in remarks]
    by_student: dict[str, list[HandIn]] = defaultdict(list)
    for hand_in in hand_ins:
        by_student[hand_in.student].append(hand_in)
    unpacker = _Unpacker(scratch)
    for student in sorted(by_student):
        rows: list[Unrecognised] = []
        work = _work_of(student, by_student[student], unpacker, rows)
        if not work and all(one.perhaps for one in by_student[student]):
            rows.clear()
        if not work and not rows:
            where = by_student[student][0].path.name
            found.remarks.append(f"{called / where}: nothing that can be graded, so no result")
        if len(rows) > MOST_ROWS:
            rows.sort(key=lambda row: row.file != REST and not lessons_named(stem_of(Path(row.file).name) or ""))
            rows[MOST_ROWS:] = [Unrecognised(student, REST, f"and {len(rows) - MOST_ROWS:,} more files")]
        found.work += work
        found.not_recognised += rows
    _pass_over_the_template(found, called, {one.student: one.path for one in hand_ins if _is_repository(one)})
    return found


def _pass_over_the_template(found: ClassFolder, called: Path, repositories: dict[str, Path]) -> None:
    """Files that most repositories have in common are the assignment's, and one line: no student handed them in.

    Whose repository has nothing else keeps the rows.
    """
    having: dict[str, list[Unrecognised]] = defaultdict(list)
    for row in found.not_recognised:
        if row.student in repositories:
            having[row.file].append(row)
    of_template: dict[str, list[Unrecognised]] = {}
    for file, rows in having.items():
        texts = {student: _fingerprint(folder / file) for student, folder in repositories.items()}
        (text, number), *_ = Counter(texts.values()).most_common()
        if text and number > max(len(repositories) / 2, 1):
            of_template[file] = [row for row in rows if texts[row.student] == text]
    kept = Counter(row.student for rows in having.values() for row in rows)
    kept.subtract(row.student for rows in of_template.values() for row in rows)
    has_more = {item.student for item in found.work} | {student for student, number in kept.items() if number}
    passed_over: set[Unrecognised] = set()
    for file, rows in of_template.items():
        if gone := [row for row in rows if row.student in has_more]:
            passed_over.update(gone)
            found.remarks.append(f"{called}: {file} is the same in {len(gone)} repositories; passed over")
    found.not_recognised = [row for row in found.not_recognised if row not in passed_over]


def _fingerprint(file: Path) -> str:
    """What tells a file's content from another's; empty if it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(file, file.parent)).hexdigest()
    except SubmissionError:
        return ""


def _is_repository(hand_in: HandIn) -> bool:
    return not hand_in.name and not hand_in.why and os.path.exists(hand_in.path / ".git")


def _work_of(student: str, hand_ins: list[HandIn], unpacker: _Unpacker, rows: list[Unrecognised]) -> list[Work]:
    """A student's work, one file a lesson; what is not graded goes to `rows`."""
    candidates: dict[str, list[_Candidate]] = defaultdict(list)
    aside = _Aside()
    for file in _files(student, hand_ins, unpacker, rows, aside):
        found = "it lies in no student's folder" if student == UNKNOWN else _recognised(file)
        if isinstance(found, str):
            rows.append(Unrecognised(student, file.shown, found))
        else:
            candidates[found.lesson].append(found)
    work = []
    for lesson in sorted(candidates):
        in_order = sorted(candidates[lesson], key=lambda one: [key for key, _ in one.reasons])
        best, unreadable = _best(in_order)
        work.append(Work(sys.intern(lesson), student, best.file.path, _remark(best)))
        for other in in_order:
            if other is best:
                continue
            pairs = zip(best.reasons, other.reasons, strict=True)
            better = next(says for (mine, says), (theirs, _) in pairs if mine != theirs)
            why = unreadable.get(other.file.shown, better)
            what = f"{best.file.shown} is graded as {lesson}, as {why}; remove one of the two"
            rows.append(Unrecognised(student, other.file.shown, what))
    rows += [
        Unrecognised(student, file.shown, "it is hidden; hand it in under a name without a dot")
        for file in _work_among(aside.hidden)
        if not candidates.keys() & set(lessons_named(stem_of(file.name) or Path(file.name).stem))
    ]
    if not work:
        rows += [Unrecognised(student, file.shown, NO_LESSON) for file in aside.of_repository]
    if not work and not rows:
        rows += [row for one in hand_ins if not _is_repository(one) for row in _nothing_of(student, one)]
    return work


def _best(in_order: list[_Candidate]) -> tuple[_Candidate, dict[str, str]]:
    """The first of the files for a lesson that can be read, and why those before it cannot; the first if none can."""
    unreadable: dict[str, str] = {}
    for one in in_order[:MOST_TRIED] if len(in_order) > 1 else []:
        try:
            read_submission(one.file.path, inside=one.file.path.parent)
        except SubmissionError as error:
            unreadable[one.file.shown] = f"this one cannot be ({error})"
        else:
            return one, unreadable
    return in_order[0], {}


def _work_among(hidden: list[_File]) -> Iterator[_File]:
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
                yield _File(path, path.name, shown)


def _is_called_after_a_lesson(name: str) -> bool:
    """Surely so: what else is hidden, as a program's own files, may have a lesson's topic in its name."""
    stem = (stem_of(name) or "").lstrip("._")
    return stem in syllabus() or (name.lower().endswith((".ipynb", ".zip")) and bool(lessons_named(Path(name).stem)))


def _nothing_of(student: str, hand_in: HandIn) -> list[Unrecognised]:
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


def _remark(best: _Candidate) -> str:
    """What a result says of a file that was not called as it should be."""
    how = ("", "by its name", "by the exercises in it")[best.doubt]
    called = f"'{clean(best.file.name, 80)}' was graded as {best.lesson}, {how}." if how else ""
    return " ".join(part for part in (called, best.file.note) if part)


def _recognised(file: _File) -> _Candidate | str:
    """The lesson that a file can only be; else why it is not graded."""
    stem = stem_of(file.name)
    if stem is None:
        return NO_LESSON
    named = lessons_named(stem)
    if len(named) == 1:
        exact = file.name in (f"{named[0]}.ipynb", f"{named[0]}.py")
        return _Candidate(file, named[0], 0 if exact else 1)
    if named:
        return f"its name could be {enumeration(named, 'or')}; name it after one"
    try:
        within = lessons_within(read_submission(file.path, inside=file.path.parent).cells)
    except SubmissionError as error:
        return f"{error}"
    if len(within) == 1:
        return _Candidate(file, within[0], 2)
    return "no lesson of that name, and what is in it does not say which it is; name it after its lesson"


def _files(
    student: str, hand_ins: list[HandIn], unpacker: _Unpacker, rows: list[Unrecognised], aside: _Aside
) -> Iterator[_File]:
    """Every file of a student that is to be looked at, out of folders and zips; what cannot be goes to `rows`."""
    count = 0
    for hand_in in hand_ins:
        if hand_in.why:
            rows.append(Unrecognised(student, hand_in.name, hand_in.why))
            continue
        if hand_in.name:
            given = _File(hand_in.path, hand_in.name, hand_in.path.name, hand_in.note, hand_in.copy)
            found = unpacker.opened(student, given, rows, aside)
        else:
            walked = _walk(student, hand_in.path, "", 0, rows, aside)
            if _is_repository(hand_in):
                walked = _work_of_a_repository(walked, aside)
            found = (file for entry in walked for file in unpacker.opened(student, entry, rows, aside))
        for file in found:
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


def _work_of_a_repository(walked: Iterator[_File], aside: _Aside) -> Iterator[_File]:
    for file in walked:
        if _could_be_work(file.name):
            yield file
        elif not file.name.lower().startswith(("readme", "license")) and len(aside.of_repository) <= MOST_ROWS:
            aside.of_repository.append(file)


def _could_be_work(name: str) -> bool:
    """Whether a file of a repository is one that a learner made: it has many that are the repository's."""
    return name.lower().endswith((".ipynb", ".py", ".zip")) or bool(lessons_named(stem_of(name) or Path(name).stem))


def _walk(
    student: str, folder: Path, below: str, depth: int, rows: list[Unrecognised], aside: _Aside
) -> Iterator[_File]:
    """The files in a student's folder and those in it, in the order of their names."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        rows.append(Unrecognised(student, below or ".", f"the folder cannot be read ({error.strerror})"))
        return
    for entry in entries:
        path, shown = folder / entry.name, f"{below}{entry.name}"
        if entry.name.startswith(".") or entry.name in NOT_WORK:
            aside.hidden.append(_File(path, entry.name, shown))
        elif (
            not _is_folder(entry) or stem_of(entry.name) in syllabus()
        ):  # a folder for a lesson's file: it is unreadable
            yield _File(path, entry.name, shown, copy=copy_number(stem_of(entry.name) or ""))
        elif entry.is_symlink():
            rows.append(Unrecognised(student, shown, "a link to a folder; hand in the files themselves"))
        elif depth == DEPTH:
            rows.append(Unrecognised(student, shown, f"more than {DEPTH} folders deep; not looked at"))
        else:
            yield from _walk(student, path, f"{shown}/", depth + 1, rows, aside)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


class _Unpacker:
    """Opens the zips that students hand in, each into a folder of its own."""

    def __init__(self, scratch: Path | None) -> None:
        self._scratch = scratch
        self._opened = 0
        self._of: Counter[str] = Counter()
        """Zips opened, by student."""
        self._bytes: Counter[str] = Counter()
        """What lies unpacked, by student: their zips share the bound of one."""

    def opened(self, student: str, file: _File, rows: list[Unrecognised], aside: _Aside) -> Iterator[_File]:
        """The files in a zip; any other file is itself."""
        if not file.name.lower().endswith(".zip"):
            yield file
            return
        if self._scratch is None or os.path.islink(file.path) or not os.path.isfile(file.path):
            rows.append(Unrecognised(student, file.shown, "a zip that was not unpacked; hand in the files themselves"))
            return
        self._opened += 1
        self._of[student] += 1
        target = self._scratch / f"zip-{self._opened}"
        try:
            if self._of[student] > MOST_ZIPS:
                raise ArchiveError(f"more than {MOST_ZIPS} zips were handed in, and this one was not opened")
            room = OF_A_STUDENT.total_bytes - self._bytes[student]
            unpacked = unpack(file.path, target, replace(OF_A_STUDENT, total_bytes=room))
        except ArchiveError as error:
            shutil.rmtree(target, ignore_errors=True)
            rows.append(Unrecognised(student, file.shown, f"{error}; hand in the files themselves"))
            return
        self._bytes[student] += unpacked.total_bytes
        rows += [Unrecognised(student, f"{file.shown}/{name}", why) for name, why in unpacked.left_out]
        if not target.exists():
            rows.append(Unrecognised(student, file.shown, "there is no file in the archive"))
            return
        for inner in _walk(student, target, f"{file.shown}/", 0, rows, aside):
            if inner.name.lower().endswith(".zip"):
                why = "an archive in an archive; hand in the files themselves"
                rows.append(Unrecognised(student, inner.shown, why))
            else:
                yield _File(inner.path, inner.name, inner.shown, file.note, inner.copy)
