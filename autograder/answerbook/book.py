"""Reads and writes the file of an answer book, whole or in parts."""

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
"""Most bytes of an unpacked book, so that a forged file cannot fill the memory."""
BY_EXERCISE = ("answers", "called_back", "right", "seen", "variants", "pairs")
"""Fields that are dicts by exercise; they are nearly all of a book's bytes."""


class StaleBook(ValueError):
    """A book cannot be read, or has another format or other checks; the message says which file and what to do."""


@dataclass(frozen=True)
class Answer:
    """The reference's answer to one question."""

    asked: Question
    value: Any


@dataclass
class AnswerBook:
    """What visible checks need in place of a lesson's solutions and known mistakes."""

    lesson: str
    version: str
    """The grader version, as in results, of the files that the book was made from."""
    signatures: dict[str, list[list[Any]]] = field(default_factory=dict)
    """By exercise: name and kind of each parameter."""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    """By exercise: answers to the questions of its checks that contain only data."""
    called_back: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    """By exercise and check: answers to questions that contain functions, in the order in which the check asks."""
    right: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By exercise and check: what visible checks see of the reference."""
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    """Exercise, name and `says` of each known mistake."""
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By exercise and name of a known mistake: what the visible checks that reject it see."""
    variants: dict[str, list[Any]] = field(default_factory=dict)
    """By exercise: for each slip in the reference, its words and what each visible check sees."""
    pairs: dict[str, list[Any]] = field(default_factory=dict)
    """By exercise: for each pair of known mistakes, their names and what each visible check sees."""
    harmless: list[list[str]] = field(default_factory=list)
    """Helper, known mistake and exercise, where the exercise is right despite the helper's mistake."""
    checks: str = ""
    """`checks_of` the lesson: the book answers these checks and no others."""

    def hold_to(self, places: Places) -> None:
        """Raise `StaleBook` if the lesson's checks and scenarios are not those that the book was made of."""
        if self.checks != checks_of(places, self.lesson):
            raise StaleBook(
                f"{self.lesson}: its checks are not those that its answers were made of; install the course again, or "
                "load the page again"
            )

    def in_parts(self) -> tuple[AnswerBook, dict[str, AnswerBook]]:
        """Split off one part per exercise, which a page fetches for that exercise's checks; the rest serves all."""
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
        """Merge a part of this book. Raises `StaleBook` if it belongs to another book."""
        if (part.lesson, part.version, part.checks) != (self.lesson, self.version, self.checks):
            raise StaleBook(f"answers of {self.lesson} are of another version than its checks: load the page again")
        for name in BY_EXERCISE:
            getattr(self, name).update(getattr(part, name))

    def to_bytes(self) -> bytes:
        """The contents of the file; equal books give equal bytes."""
        pool = Pool()
        body = {key: pool.packed(value) for key, value in vars(self).items() if key != "answers"}
        body["answers"] = {
            exercise: [[*asdict(one.asked).values(), pool.packed(one.value)] for one in answers]
            for exercise, answers in self.answers.items()
        }
        return bz2.compress(wire.encode([FORMAT, body, pool.arrays], bounds=BOUNDS))

    @classmethod
    def from_bytes(cls, content: bytes) -> AnswerBook:
        """The book in a file's contents. Raises `ValueError` if they are not one."""
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
    """The book in `file`. Raises `StaleBook` if it cannot be read, `FileNotFoundError` if there is no file."""
    content = file.read_bytes()
    try:
        return AnswerBook.from_bytes(content)
    except (ValueError, TypeError, KeyError) as error:
        raise StaleBook(f"{file.name} cannot be read ({error}); install the course again") from None


def _read_only(array: Any) -> Any:
    if hasattr(array, "flags"):
        array.flags.writeable = False
    return array
