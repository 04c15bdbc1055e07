"""Chooses the file to grade for each lesson: by content first, then by name, then by location."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autograder.begun import holds_work
from autograder.classroom.course_files import SOLUTIONS, is_ours
from autograder.classroom.hand_in_files import File
from autograder.classroom.lesson_names import (
    another_lesson,
    another_lesson_within,
    has_marks_of_others,
    has_other_words,
    lessons_named,
    lessons_within,
)
from autograder.submission import SCRIPTS, SubmissionError, parse_submission, read_bytes, stem_of
from autograder.wording import clean, enumeration

NO_LESSON = "no lesson of that name; lessons are .ipynb or .py files"
MOST_READ = 64 * 2**20
"""At most this many bytes of one student's files are read to choose among them."""
MOST_TRIED = 20
"""At most this many of a student's files for one lesson are read in search of one with work in it."""
MOST_BESIDE = 3
"""At most this many other files for a lesson are named in its result."""
OURS = "is the course's own file"
HANDED_OUT = f"{OURS}, as it was handed out"
EMPTY = "holds no answer"
UNTOUCHED = (HANDED_OUT, EMPTY)
"""Reasons that mark files in which no exercise has been started."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a lesson. `doubt`: 0 if it has the lesson's name, 1 a similar name, 2 only its exercises."""

    file: File
    lesson: str
    doubt: int

    @property
    def reasons(self) -> tuple[tuple[object, str], ...]:
        """Sort keys that decide between two files with work, smaller is better, each with its explanation."""
        by = ("its name is the lesson's", "its name says the lesson", "")
        made, number = self.file.turn
        return (
            (_Reversed(made), "it was handed in later"),
            (-number, "it was handed in later"),
            (self.doubt, by[self.doubt]),
            (self.file.name.lower().endswith(SCRIPTS), "a notebook goes before a Python file"),
            (-self.file.copy, "its number is higher"),
            (self.file.shown.count("/"), "it lies less deep"),
            (self.file.shown, "its name comes first"),
            (str(self.file.path), "its folder comes first"),  # a student may have handed in twice
        )


class _Reversed(str):
    """A string that sorts in reverse order."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)


@dataclass(frozen=True, slots=True)
class Choice:
    """The file graded as a lesson, and the files that were not chosen."""

    best: Candidate
    others: list[tuple[Candidate, str, str | None]]
    """Each with the reason why it was not chosen, and what it lacks: "" if it holds work, None if it was not read."""

    @property
    def earlier(self) -> list[File]:
        """Earlier attempts at the same hand-in, on a platform that takes several."""
        return [other.file for other, _, _ in self.others if _is_earlier(other.file, self.best.file)]

    @property
    def beside(self) -> list[tuple[Candidate, str, str | None]]:
        """The other files that are not earlier attempts."""
        return [one for one in self.others if not _is_earlier(one[0].file, self.best.file)]

    def remark(self) -> str:
        """How the file was found, for the result."""
        file, others = self.best.file, self.beside
        how = ("", "by its name", "by the exercises in it")[self.best.doubt]
        called = f"'{clean(file.name, 80)}' was graded as {self.best.lesson}, {how}." if how else ""
        beside = ""
        if others:
            named = [f"'{clean(other.file.shown, 80)}'" for other, _, _ in others[:MOST_BESIDE]]
            more = len(others) - len(named)
            named += [f"{more} more"] if more else []
            was = "was" if len(others) == 1 else "were"
            beside = f"'{clean(file.shown, 80)}' was graded; {enumeration(named)} {was} handed in, too."
        elif file.of_clone:
            beside = f"'{clean(file.shown, 80)}' was graded."
        turns = f"It was handed in {len(self.earlier) + 1} times; the last counts." if self.earlier else ""
        return " ".join(part for part in (called, beside, turns, file.note) if part)


def _is_earlier(file: File, than: File) -> bool:
    """Whether a file is an earlier attempt than another, by time or by Canvas's number for files of one name."""
    if file.turn != than.turn and ("", 0) not in (file.turn, than.turn):
        return file.turn < than.turn
    return (file.path.parent, file.name) == (than.path.parent, than.name) and file.copy < than.copy


class Reader:
    """Reads the files of one student, up to `MOST_READ` bytes in all."""

    def __init__(self) -> None:
        self._left = MOST_READ
        """Bytes that may still be read."""
        self._data: dict[Path, bytes] = {}

    @property
    def has_plenty(self) -> bool:
        """Whether half of the limit is left, so that a glance at a file leaves enough for a choice."""
        return self._left >= MOST_READ / 2

    def read(self, file: File) -> bytes:
        """The content of a file; one that was read before is not read again.

        Raises:
            SubmissionError: the file cannot be graded, or the limit was reached before.
        """
        if file.path in self._data:
            return self._data[file.path]
        if self._left <= 0:
            raise SubmissionError(f"more than {MOST_READ >> 20} MiB were handed in, and it was not looked at")
        data = read_bytes(file.path, file.path.parent)
        self._left -= len(data)
        self._data[file.path] = data
        return data


def recognised(file: File, reader: Reader) -> Candidate | str:
    """The lesson that a file must be, or the reason why it is not graded."""
    stem = stem_of(file.name)
    if stem is None:
        return NO_LESSON
    named = lessons_named(stem)
    if len(named) == 1 and (problem := _of_another_course(file, stem, reader)):
        return problem
    if len(named) == 1:
        if meant := _mistaken_for(file, named[0], reader):
            return Candidate(file, meant, 2)
        exact = file.name in (f"{named[0]}.ipynb", f"{named[0]}.py")
        return Candidate(file, named[0], 0 if exact else 1)
    if named:
        return f"its name could be {enumeration(named, 'or')}; name it after one"
    try:
        within = lessons_within(parse_submission(file.path.name, reader.read(file)).cells)
    except SubmissionError as error:
        return f"{error}"
    if len(within) == 1:
        return Candidate(file, within[0], 2)
    return "no lesson of that name, and what is in it does not say which it is; name it after its lesson"


def _of_another_course(file: File, stem: str, reader: Reader) -> str:
    """Why a file with a lesson's number belongs to another course; empty if it does not, or cannot be read."""
    if has_other_words(stem):
        with suppress(SubmissionError):
            return another_lesson(stem, parse_submission(file.path.name, reader.read(file)).cells)
    return ""


def _mistaken_for(file: File, named: str, reader: Reader) -> str:
    """The lesson of which a file holds work under another one's name; empty if there is none, or it cannot be read."""
    if not reader.has_plenty:
        return ""
    with suppress(SubmissionError):
        data = reader.read(file)
        if has_marks_of_others(named, data):
            cells = parse_submission(file.path.name, data).cells
            meant = another_lesson_within(named, cells)
            return meant if meant and holds_work(cells, meant) else ""
    return ""


def choose(found: list[Candidate], reader: Reader) -> Choice | None:
    """The file to grade for one lesson; None if all candidates are the course's own files.

    The first candidate with work wins, in the order of `reasons`; else the first that can be read. A file as the course
    hands it out is not a hand-in if it lies in a clone of the course or among its solutions.
    """
    in_order = sorted(found, key=lambda one: [key for key, _ in one.reasons])
    asks = len(in_order) > 1 or _may_be_ours(in_order[0].file)
    lacking = {one.file.path: _lacking(one, reader) for one in in_order[: MOST_TRIED if asks else 0]}
    theirs = [one for one in in_order if not _is_unchanged_course_file(one.file, lacking.get(one.file.path))]
    if not theirs:
        return None
    best = min(theirs, key=lambda one: _rank(lacking.get(one.file.path)))  # min returns the first of equals
    rank = _rank(lacking.get(best.file.path))
    others = []
    for other in theirs:
        if other is not best:
            lacks = lacking.get(other.file.path)
            why = f"this one {lacks}" if lacks and _rank(lacks) > rank else _why_better(best, other)
            others.append((other, why, lacks))
    return Choice(best, others)


def _may_be_ours(file: File) -> bool:
    return file.of_clone or file.path.parent.name == SOLUTIONS


def _is_unchanged_course_file(file: File, lacking: str | None) -> bool:
    return (lacking in (OURS, HANDED_OUT) and _may_be_ours(file)) or (lacking == EMPTY and file.of_clone)


def _rank(lacking: str | None) -> int:
    """Sort key: files with work, then unread ones, then those without answers, then unreadable ones."""
    return 0 if lacking == "" else 1 if lacking is None else 2 if lacking in (OURS, *UNTOUCHED) else 3


def _lacking(one: Candidate, reader: Reader) -> str:
    """Why a file holds no work on its lesson; empty if it does."""
    try:
        data = reader.read(one.file)
        ours = is_ours(data)
        begun = holds_work(parse_submission(one.file.path.name, data).cells, one.lesson)
    except SubmissionError as error:
        return f"cannot be ({error})"
    if ours:
        return OURS if begun else HANDED_OUT
    return "" if begun else EMPTY


def _why_better(best: Candidate, other: Candidate) -> str:
    """Why `best` was preferred to `other`, if their contents do not decide it."""
    pairs = zip(best.reasons, other.reasons, strict=True)
    return next(says for (mine, says), (theirs, _) in pairs if mine != theirs)
