"""Which of a student's files is graded as a lesson: content goes before name, and name before place."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from autograder.begun import holds_work
from autograder.classroom.course_files import SOLUTIONS, is_ours
from autograder.classroom.hand_in_files import File
from autograder.classroom.lesson_names import another_lesson, has_other_words, lessons_named, lessons_within
from autograder.submission import SCRIPTS, SubmissionError, parse_submission, read_bytes, stem_of
from autograder.wording import clean, enumeration

NO_LESSON = "no lesson of that name; lessons are .ipynb or .py files"
MOST_READ = 64 * 2**20
"""Bytes of one student's files that are read to choose among them."""
MOST_TRIED = 20
"""Files of one student for one lesson that are read, until one of them holds work."""
MOST_BESIDE = 3
"""Other files for a lesson that its result names."""
OURS = "is the course's own file"
HANDED_OUT = f"{OURS}, as it was handed out"
EMPTY = "holds no answer"
UNTOUCHED = (HANDED_OUT, EMPTY)
"""What is said of files in which nobody has begun an exercise."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that can be one lesson, and how sure that is: 0 by its exact name, 1 by its name, 2 by what is in it."""

    file: File
    lesson: str
    doubt: int

    @property
    def reasons(self) -> tuple[tuple[object, str], ...]:
        """What makes one of two files that hold work better, the smaller the better, and how that is said."""
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
    """Text that sorts the other way round."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)


@dataclass(frozen=True, slots=True)
class Choice:
    """The file that is graded as a lesson, and what there is to say of the others."""

    best: Candidate
    others: list[tuple[Candidate, str, str | None]]
    """Each with why it is not, and with why it holds no work: empty if it does, None if it was not looked at."""

    @property
    def earlier(self) -> list[File]:
        """What was handed in before it, by a platform that takes several attempts."""
        return [other.file for other, _, _ in self.others if _is_earlier(other.file, self.best.file)]

    @property
    def beside(self) -> list[tuple[Candidate, str, str | None]]:
        """The others that are no earlier attempts."""
        return [one for one in self.others if not _is_earlier(one[0].file, self.best.file)]

    def remark(self) -> str:
        """What a result says of how its file was found."""
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
    """Whether a file is an attempt before another: by its time, or by the number that Canvas gives to one name."""
    if file.turn != than.turn and ("", 0) not in (file.turn, than.turn):
        return file.turn < than.turn
    return (file.path.parent, file.name) == (than.path.parent, than.name) and file.copy < than.copy


class Reader:
    """Reads the files of one student, as many bytes as they may have together."""

    def __init__(self) -> None:
        self._left = MOST_READ

    def read(self, file: File) -> bytes:
        """The content of a file.

        Raises:
            SubmissionError: it cannot be graded, or too much was read before.
        """
        if self._left <= 0:
            raise SubmissionError(f"more than {MOST_READ >> 20} MiB were handed in, and it was not looked at")
        data = read_bytes(file.path, file.path.parent)
        self._left -= len(data)
        return data


def recognised(file: File, reader: Reader) -> Candidate | str:
    """The lesson that a file can only be; else why it is not graded."""
    stem = stem_of(file.name)
    if stem is None:
        return NO_LESSON
    named = lessons_named(stem)
    if len(named) == 1 and (problem := _of_another_course(file, stem, reader)):
        return problem
    if len(named) == 1:
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
    """Why a file that has a lesson's number is no lesson of this course; empty if it may be one, or cannot be read."""
    if has_other_words(stem):
        with suppress(SubmissionError):
            return another_lesson(stem, parse_submission(file.path.name, reader.read(file)).cells)
    return ""


def choose(found: list[Candidate], reader: Reader) -> Choice | None:
    """The file that is graded of those for one lesson; None if all of them are the course's own.

    The first that holds work, in the order of their names; else the first that can be read. What the course hands out
    is nobody's hand-in where it lies in a copy of the course, nor among its solutions.
    """
    in_order = sorted(found, key=lambda one: [key for key, _ in one.reasons])
    asks = len(in_order) > 1 or _may_be_ours(in_order[0].file)
    lacking = {one.file.path: _lacking(one, reader) for one in in_order[: MOST_TRIED if asks else 0]}
    theirs = [one for one in in_order if not _is_nobodys(one.file, lacking.get(one.file.path))]
    if not theirs:
        return None
    best = min(theirs, key=lambda one: _rank(lacking.get(one.file.path)))  # the first of them
    rank = _rank(lacking.get(best.file.path))
    others = []
    for other in theirs:
        if other is not best:
            lacks = lacking.get(other.file.path)
            why = f"this one {lacks}" if lacks and _rank(lacks) > rank else _better(best, other)
            others.append((other, why, lacks))
    return Choice(best, others)


def _may_be_ours(file: File) -> bool:
    return file.of_clone or file.path.parent.name == SOLUTIONS


def _is_nobodys(file: File, lacking: str | None) -> bool:
    return (lacking in (OURS, HANDED_OUT) and _may_be_ours(file)) or (lacking == EMPTY and file.of_clone)


def _rank(lacking: str | None) -> int:
    """Work comes first, then what was not looked at, what has no answers, and what cannot be read."""
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


def _better(best: Candidate, other: Candidate) -> str:
    """What makes the one better than the other, where what is in them does not."""
    pairs = zip(best.reasons, other.reasons, strict=True)
    return next(says for (mine, says), (theirs, _) in pairs if mine != theirs)
