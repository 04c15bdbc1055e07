"""Known mistakes whose visible records come from an answer book."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import pytest

from autograder.answerbook.book import AnswerBook, StaleBook, read_book
from autograder.answerbook.records import record_of
from autograder.answerbook.reference import BookReference
from autograder.answerbook.variants import SearchInBook
from autograder.diagnosis import Misconception
from autograder.judging.checking.plugin import CheckId, identify
from autograder.judging.explaining.known_mistakes import KnownMistakes, Observe
from autograder.judging.explaining.searching import Search
from autograder.judging.records.record import Record
from autograder.judging.version import grader_version
from course.syllabus import Exercise


class MistakesPartlyFromBook(KnownMistakes):
    """Looks up what visible checks see in the answer book, if there is one, and runs only hidden checks."""

    @cached_property
    def _book(self) -> AnswerBook | None:
        """The lesson's answer book; None if there is none for this version of the grader."""
        slug = self._judge.lesson.slug
        with suppress(FileNotFoundError, StaleBook):
            book = read_book(self._places.answer_book(slug))
            return book if book.version == grader_version(slug) else None
        return None

    def _rejecting_records(self, known: Misconception) -> dict[str, Any] | None:
        """By check, what the visible checks that reject a mistake see; None without a book."""
        return self._book.seen.get(known.exercise, {}).get(known.name) if self._book else None

    def _observer_of(self, known: Misconception, items: list[pytest.Item]) -> Observe:
        written = self._rejecting_records(known)
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
        written = self._rejecting_records(known)
        if written is None:
            return super()._rejecting_checks(known, items)
        return frozenset(i for i, item in enumerate(items) if (check := _check(item)).visible and check.name in written)


class MistakesFromBook(MistakesPartlyFromBook):
    """Known mistakes of a judge without solutions and hidden checks: everything is looked up in the answer book."""

    @cached_property
    def _book(self) -> AnswerBook:
        reference = self._judge.reference
        assert isinstance(reference, BookReference)
        return reference.book

    def search_of(self, exercise: str) -> Search:
        if exercise not in self._searches:
            self._searches[exercise] = SearchInBook(self._book, exercise, self.of(exercise))
        return self._searches[exercise]

    def does_no_harm(self, helper: str, named: Sequence[str], exercise: Exercise) -> bool:
        return bool(named) and all([helper, name, exercise.name] in self._book.harmless for name in named)


def _check(item: pytest.Item) -> CheckId:
    check = identify(item)
    assert check is not None
    return check
