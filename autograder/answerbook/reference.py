"""The `reference` fixture without solutions: it looks answers up in an answer book."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from types import ModuleType
from typing import Any

from autograder.answerbook.book import Answer, AnswerBook
from autograder.answerbook.questions import NEAR, Question, question
from autograder.diagnosis import Misconception
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import LearnerError
from autograder.judging.records.keys import key_of
from autograder.judging.records.record import Record, current_record
from autograder.places import Places
from autograder.worker.wire import WireError
from course.syllabus import Lesson


class NotInBook(LearnerError):
    """Visible checks never ask this of right answers, so only the solution could answer it."""

    def __init__(self) -> None:
        super().__init__(
            "What this answer leads to can be compared with the solution alone, which this copy of the course does not "
            "have: it is checked when your work is graded."
        )


class BookReference(Reference):
    """`reference.matmul_vjp(g, A, B)`: the right answer, looked up in the lesson's answer book."""

    def __init__(self, lesson: Lesson, book: AnswerBook, places: Places) -> None:
        self.book = book
        self.module = ModuleType(lesson.slug)
        self.implementations = {}
        self.covering = places.covering(lesson.slug)
        self._lesson = lesson
        self._scenario_folder = places.scenarios(lesson.slug)
        self._asked_by: Record | None = None
        self._times_asked = 0
        self._by_structure: defaultdict[str, list[Answer]] = defaultdict(list)
        self._indexed: set[str] = set()
        """Exercises whose answers are indexed by structure."""

    @cached_property
    def signatures(self) -> dict[str, inspect.Signature]:
        """Each exercise's signature, by name."""
        return {name: _signature(parameters) for name, parameters in self.book.signatures.items()}

    def misconceptions(self, exercises: Iterable[str] | None = None) -> list[Misconception]:
        """The known mistakes of these exercises (default: all): their names and sentences."""
        names = None if exercises is None else set(exercises)
        known = [Misconception(one["exercise"], one["name"], one["says"]) for one in self.book.mistakes]
        return known if names is None else [one for one in known if one.exercise in names]

    def answer(self, key: list[Any], compute: Callable[[], Any] | None = None) -> Any:
        """Look up the answer for a name and its arguments. Raises `NotInBook` if the book does not have it."""
        try:
            key_of(key)
        except WireError:
            return self._called_back()
        asked = question(key)
        known = self._with_structure(asked)
        exact = [one.value for one in known if one.asked.exact == asked.exact]
        if exact:
            return exact[0]
        distance, _, answer = min(
            ((asked.distance(one.asked), i, one.value) for i, one in enumerate(known)),
            default=(float("inf"), 0, None),
        )
        if distance > NEAR:
            raise NotInBook
        return answer

    def _called_back(self) -> Any:
        """The next answer that this check got to a question that contains a function."""
        record = current_record()
        if record is not self._asked_by:
            self._asked_by, self._times_asked = record, 0
        self._times_asked += 1
        answers = self.book.called_back.get(record.exercise, {}).get(record.check, [])
        if self._times_asked > len(answers):
            raise NotInBook
        return answers[self._times_asked - 1]

    def _with_structure(self, asked: Question) -> list[Answer]:
        """The answers to questions of this structure, from all exercises loaded so far."""
        for exercise in [name for name in self.book.answers if name not in self._indexed]:
            for one in self.book.answers[exercise]:
                self._by_structure[one.asked.structure].append(one)
            self._indexed.add(exercise)
        return self._by_structure.get(asked.structure, [])

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.book.signatures:
            raise AttributeError(f"the answer book has no {name!r}")
        return lambda *args, **kwargs: self.answer([name, list(args), kwargs])


def _signature(parameters: list[list[Any]]) -> inspect.Signature:
    kinds = {str(kind): kind for kind in inspect._ParameterKind}
    return inspect.Signature([inspect.Parameter(name, kinds[kind]) for name, kind in parameters])
