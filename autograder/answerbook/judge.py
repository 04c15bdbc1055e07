"""The judge of a course that lies without its solutions: visible checks, with an answer book in their place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from autograder.answerbook.book import StaleBook, read_book
from autograder.answerbook.records import record_of
from autograder.answerbook.reference import BookReference
from autograder.answerbook.slips import WrittenSearch
from autograder.diagnosis import Misconception
from autograder.judging.diagnose import Evidence
from autograder.judging.errors import CheckError
from autograder.judging.expectations import Record
from autograder.judging.plugin import identify
from autograder.judging.searching import Search
from autograder.judging.session import Judge
from autograder.places import Places
from course.syllabus import Exercise, Lesson


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

    def hold_against_the_reference(self, item: pytest.Item) -> None:
        """Nothing: who wrote the book has held the check against the reference."""

    def evidence(self, known: Misconception) -> Evidence:
        if known not in self._evidence:
            written = next(one["seen"] for one in self.reference.book.mistakes if one["name"] == known.name)
            items = self.items_of(known.exercise)
            checks = [check for item in items if (check := identify(item))]
            right = self.reference.book.right[known.exercise]

            def seen(i: int, enough: object) -> Record:
                check = checks[i]
                data = written.get(check.name, right[check.name])
                which = {"exercise": known.exercise, "check": check.in_words, "visible": True}
                return record_of(data, **which)

            rejecting = frozenset(i for i, check in enumerate(checks) if check.name in written)
            self._evidence[known] = Evidence(len(items), seen, rejecting)
        return self._evidence[known]

    def search_of(self, exercise: str) -> Search:
        if exercise not in self._searches:
            book, known = self.reference.book, [one for one in self.known if one.exercise == exercise]
            self._searches[exercise] = WrittenSearch(book, exercise, known)
        return self._searches[exercise]

    def does_no_harm(self, helper: str, named: Sequence[str], exercise: Exercise) -> bool:
        harmless = self.reference.book.harmless
        return bool(named) and all([helper, name, exercise.name] in harmless for name in named)
