"""What checks see of known mistakes, as an answer book has it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import pytest

from autograder.answerbook.book import AnswerBook, StaleBook, read_book
from autograder.answerbook.records import record_of
from autograder.answerbook.reference import BookReference
from autograder.answerbook.variants import WrittenSearch
from autograder.diagnosis import Misconception
from autograder.judging.checking.plugin import CheckId, identify
from autograder.judging.explaining.known_mistakes import KnownMistakes, Observe
from autograder.judging.explaining.searching import Search
from autograder.judging.records.record import Record
from autograder.judging.version import grader_version
from course.syllabus import Exercise


class PartlyWritten(KnownMistakes):
    """What hidden checks see is found out, and what visible ones see looked up, where there is a book to look in."""

    @cached_property
    def _book(self) -> AnswerBook | None:
        """The lesson's answer book; None where there is none, or one of another version."""
        slug = self._judge.lesson.slug
        with suppress(FileNotFoundError, StaleBook):
            book = read_book(self._places.answer_book(slug))
            return book if book.version == grader_version(slug) else None
        return None

    def _written(self, known: Misconception) -> dict[str, Any] | None:
        """What the visible checks that reject a mistake see, by check."""
        return self._book.seen.get(known.exercise, {}).get(known.name) if self._book else None

    def _observer_of(self, known: Misconception, items: list[pytest.Item]) -> Observe:
        written = self._written(known)
        if written is None or self._book is None:
            return super()._observer_of(known, items)
        found_out, right = super()._observer_of(known, items), self._book.right[known.exercise]

        def seen(i: int, enough: Any) -> Record:
            check = _check(items[i])
            if not check.visible:
                return found_out(i, enough)
            data = written.get(check.name, right[check.name])
            return record_of(data, exercise=known.exercise, check=check.in_words, visible=True)

        return seen

    def _rejecting_checks(self, known: Misconception, items: list[pytest.Item]) -> frozenset[int] | None:
        written = self._written(known)
        if written is None:
            return super()._rejecting_checks(known, items)
        return frozenset(i for i, item in enumerate(items) if (check := _check(item)).visible and check.name in written)


class WrittenMistakes(PartlyWritten):
    """All of it looked up: there are no solutions and no hidden checks."""

    @cached_property
    def _book(self) -> AnswerBook:
        reference = self._judge.reference
        assert isinstance(reference, BookReference)
        return reference.book

    def search_of(self, exercise: str) -> Search:
        if exercise not in self._searches:
            self._searches[exercise] = WrittenSearch(self._book, exercise, self.of(exercise))
        return self._searches[exercise]

    def does_no_harm(self, helper: str, named: Sequence[str], exercise: Exercise) -> bool:
        return bool(named) and all([helper, name, exercise.name] in self._book.harmless for name in named)


def _check(item: pytest.Item) -> CheckId:
    check = identify(item)
    assert check is not None
    return check
