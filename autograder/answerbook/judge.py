"""The judge of a course that lies without its solutions: visible checks, with an answer book in their place."""

from __future__ import annotations

import pytest

from autograder.answerbook.book import StaleBook, read_book
from autograder.answerbook.reference import BookReference
from autograder.judging.records.errors import CheckError
from autograder.judging.session import Judge
from autograder.places import Places
from course.syllabus import Lesson


def opened(lesson: Lesson, places: Places) -> BookReference:
    """What a lesson's answer book answers. `CheckError` where that cannot be read."""
    try:
        return BookReference(lesson, read_book(places.answer_book(lesson.slug)), places)
    except StaleBook as error:
        raise CheckError(str(error)) from None


class BookJudge(Judge):
    """Grades the visible checks of one lesson, and names mistakes, from its answer book."""

    reference: BookReference
    asks_hidden = False

    def version(self) -> str:
        return self.reference.book.version

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]:
        return [] if visible is False else super().items_of(exercise, True)

    def require_reference_passes(self, item: pytest.Item) -> None:
        """Nothing: who wrote the book has held the check against the reference."""
