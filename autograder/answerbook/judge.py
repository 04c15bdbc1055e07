"""The judge of a copy of the course without solutions: it runs visible checks against an answer book."""

from __future__ import annotations

import pytest

from autograder.answerbook.book import StaleBook, read_book
from autograder.answerbook.reference import BookReference
from autograder.judging.records.errors import CheckError
from autograder.judging.session import Judge
from autograder.places import Places
from course.syllabus import Lesson


def open_book(lesson: Lesson, places: Places) -> BookReference:
    """Open a lesson's answer book as a reference. Raises `CheckError` if it cannot be read or is of other checks."""
    try:
        book = read_book(places.answer_book(lesson.slug))
        book.hold_to(places)
        return BookReference(lesson, book, places)
    except StaleBook as error:
        raise CheckError(str(error)) from None


class BookJudge(Judge):
    """Grades the visible checks of one lesson and names mistakes, from its answer book."""

    reference: BookReference
    asks_hidden = False

    def version(self) -> str:
        return self.reference.book.version

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]:
        return [] if visible is False else super().items_of(exercise, True)

    def require_reference_passes(self, item: pytest.Item) -> None:
        """Do nothing: the check passed on the reference when the book was written."""
