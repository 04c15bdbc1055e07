"""The file of an answer book: plain data, written and read, whole or in parts."""

from __future__ import annotations

import bz2
import hashlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.answerbook.plain import Pool
from autograder.answerbook.questions import Question
from autograder.places import Places, modules_in
from autograder.worker import wire

FORMAT = 4
BOUNDS = wire.Bounds(frame=2**28, header=2**27, items=10_000_000)
MOST_BYTES = 2**28
"""Of a book, unpacked: what is said to be one is not unpacked without a bound."""
BY_EXERCISE = ("answers", "called_back", "right", "seen", "variants", "pairs")
"""Fields that are dicts by exercise: nearly all of a book's bytes."""


class StaleBook(ValueError):
    """A book that cannot be read, is of another format or of other checks; the message says what to do."""


@dataclass(frozen=True)
class Answer:
    """What the reference answers to one question."""

    asked: Question
    value: Any


@dataclass
class AnswerBook:
    """What visible checks need of a lesson's solutions and known mistakes."""

    lesson: str
    version: str
    """The grader's version, as results have it: of the files that the book was made of."""
    signatures: dict[str, list[list[Any]]] = field(default_factory=dict)
    """By exercise: name and kind of each parameter."""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    """By exercise: what its checks ask that has no function in it."""
    called_back: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    """By exercise and check: the answers to questions with functions in them, in the order in which it asks."""
    right: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By exercise and check: what visible checks see of the reference."""
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    """Each with its exercise, name and `says`."""
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By exercise and name of a known mistake: what the visible checks that reject it see."""
    variants: dict[str, list[Any]] = field(default_factory=dict)
    """By exercise: the reference with one slip each, its words and what each visible check sees."""
    pairs: dict[str, list[Any]] = field(default_factory=dict)
    """By exercise: two known mistakes together, their names and what each visible check sees."""
    harmless: list[list[str]] = field(default_factory=list)
    """Known mistakes of a helper, each with an exercise that is right all the same."""
    checks: str = ""
    """`checks_of` the lesson, of which a release has the files: its book answers these checks and no others."""

    def hold_to(self, places: Places) -> None:
        """`StaleBook` where the checks and scenarios of the lesson are not those that the book was made of."""
        if self.checks != checks_of(places, self.lesson):
            raise StaleBook(
                f"{self.lesson}: its checks are not those that its answers were made of; install the course again, or "
                "load the page again"
            )

    def in_parts(self) -> tuple[AnswerBook, dict[str, AnswerBook]]:
        """What all exercises need, and by exercise what its checks alone need: a page fetches that when it checks."""
        common, parts = replace(self), {}
        for exercise in self.right:
            parts[exercise] = part = AnswerBook(self.lesson, self.version, checks=self.checks)
            for name in BY_EXERCISE:
                if exercise in (whole := getattr(self, name)):
                    setattr(part, name, {exercise: whole[exercise]})
        for name in BY_EXERCISE:
            setattr(common, name, {})
        return common, parts

    def add(self, part: AnswerBook) -> None:
        """Take a part back in. `StaleBook` if it is of another book."""
        if (part.lesson, part.version, part.checks) != (self.lesson, self.version, self.checks):
            raise StaleBook(f"answers of {self.lesson} are of another version than its checks: load the page again")
        for name in BY_EXERCISE:
            getattr(self, name).update(getattr(part, name))

    def to_bytes(self) -> bytes:
        """The file. The same book gives the same bytes."""
        pool = Pool()
        body = {key: pool.packed(value) for key, value in vars(self).items() if key != "answers"}
        body["answers"] = {
            exercise: [[*asdict(one.asked).values(), pool.packed(one.value)] for one in answers]
            for exercise, answers in self.answers.items()
        }
        return bz2.compress(wire.encode([FORMAT, body, pool.arrays], bounds=BOUNDS))

    @classmethod
    def from_bytes(cls, content: bytes) -> AnswerBook:
        """The book of a file. `ValueError` for anything else."""
        try:
            frame = bz2.BZ2Decompressor().decompress(content, MOST_BYTES)
            version, body, arrays = wire.decode(frame, bounds=BOUNDS)
        except (OSError, TypeError) as error:
            raise ValueError(str(error)) from None
        if version != FORMAT:
            raise ValueError(f"format {version}, and this grader reads {FORMAT}")
        pool, body = Pool([_read_only(array) for array in arrays]), dict(body)
        answers = {
            exercise: [
                Answer(Question(structure, exact, tuple(sketch)), pool.value(value))
                for structure, exact, sketch, value in asked
            ]
            for exercise, asked in body.pop("answers").items()
        }
        return cls(answers=answers, **{key: pool.value(value) for key, value in body.items()})


def checks_of(places: Places, slug: str) -> str:
    """A hash of what a lesson asks with: its checks, its scenarios, and the modules beside them."""
    digest = hashlib.sha256()
    for folder in (places.checks(slug), places.scenarios(slug), places.folder(slug)):
        for file in modules_in(folder):
            digest.update(f"{folder.name}/{file.name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def read_book(file: Path) -> AnswerBook:
    """The book in `file`. `StaleBook` where that is none, `FileNotFoundError` where there is no file."""
    content = file.read_bytes()
    try:
        return AnswerBook.from_bytes(content)
    except (ValueError, TypeError, KeyError) as error:
        raise StaleBook(f"{file.name} cannot be read ({error}); install the course again") from None


def _read_only(array: Any) -> Any:
    if hasattr(array, "flags"):
        array.flags.writeable = False
    return array
