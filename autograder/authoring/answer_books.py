"""Writes a lesson's answer book: see `autograder.answerbook`.

`python -P -m autograder.authoring.answer_books LESSON ...` writes the books of lessons beside their checks, and says
what cannot be written down.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from autograder.answerbook.book import Answer, AnswerBook, checks_of
from autograder.answerbook.plain import NotData, Pool
from autograder.answerbook.questions import question
from autograder.answerbook.records import record_as_data
from autograder.answerbook.variants import Seen, seen_in_short
from autograder.authoring.arguments import Arguments
from autograder.authoring.rejections import visible_checks
from autograder.authoring.same_answers import MistakesOfBook, SameAnswers
from autograder.collection import with_judge
from autograder.judging.asking.source_text import SourceText
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.evidence import ending
from autograder.judging.explaining.known_mistakes import SeenOfMistakes
from autograder.judging.explaining.relations import unit_gradients
from autograder.judging.explaining.searching import WORTH_SEARCHING, Candidate, NoAnswer
from autograder.judging.recorder import Recorder
from autograder.judging.records.errors import CheckError
from autograder.judging.records.keys import key_of
from autograder.judging.records.record import Record, current_record
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import parse_submission
from autograder.worker.interrupts import TooLong
from autograder.worker.wire import WireError
from course.syllabus import Exercise, Lesson

MOST_SECONDS = 20.0
"""Seconds of processor time for trying all slips of an exercise, or all its pairs of mistakes.

The book gets all of them or none: a slip names an answer only if no other slip gives that answer too. The search while
grading gives up far earlier.
"""
TRIED, MARGIN = 20, 1.5
"""After so many changes, all are given up if they would take so many times as long as they may; at the end, once."""
GOLDEN = 0.6180339887498949
"""Multiples of the golden ratio, modulo 1, are spread evenly however many there are."""


class Asked(Reference):
    """The solutions, recording the questions that checks ask them, with the answers, inside `noted`."""

    def __init__(self, lesson: Lesson, *more: Any) -> None:
        super().__init__(lesson, *more)
        self.as_learner = Reference(lesson, *more)
        """Plays the learner's part; questions to it are not recorded."""
        self._noting = ""
        self._noting_call_backs = False
        self._written_down: set[tuple[str, str, str]] = set()
        self.answers: defaultdict[str, list[Answer]] = defaultdict(list)
        self.called_back: defaultdict[str, dict[str, list[Any]]] = defaultdict(dict)
        self.no_data: list[str] = []

    @contextmanager
    def noted(self, exercise: str, *, call_backs: bool = True) -> Iterator[None]:
        """Record the questions asked inside, for an exercise.

        Args:
            call_backs: whether to record questions with functions in them too, which are known by their order.
        """
        self._noting, self._noting_call_backs = exercise, call_backs
        try:
            yield
        finally:
            self._noting = ""

    def answer(self, key: list[Any], compute: Callable[[], Any]) -> Any:
        value = super().answer(key, compute)
        if self._noting:
            self._note(key, value)
        return value

    def _note(self, key: list[Any], value: Any) -> None:
        try:
            Pool().packed(value)
        except NotData as error:
            self.no_data.append(f"{self._noting}: {current_record().check}: {key[0]} answers {error}")
            return
        try:
            key_of(key)
        except WireError:
            if self._noting_call_backs:
                self.called_back[self._noting].setdefault(current_record().check, []).append(value)
            return
        asked = question(key)
        entry = (self._noting, asked.structure, asked.exact)
        if entry not in self._written_down:
            self._written_down.add(entry)
            self.answers[self._noting].append(Answer(asked, value))


@dataclass
class Written:
    """An answer book, and what could not be written into it."""

    book: AnswerBook
    no_data: list[str] = field(default_factory=list)
    """Questions whose answers are not plain data, with exercise and check."""
    not_searched: list[str] = field(default_factory=list)
    """Exercises whose slips or pairs of mistakes take too long to try."""


def written_for(
    lesson: Lesson,
    places: Places | None = None,
    *,
    slip_seconds: float = MOST_SECONDS,
    harmless: bool = True,
    only: str = "",
    seen: SeenOfMistakes | None = None,
) -> Written:
    """Make the answer book of a lesson, or of the exercise `only`.

    Args:
        slip_seconds: processor time for trying all slips of an exercise, or all its pairs of mistakes; with 0 the book
            gets none of either.
        harmless: whether it gets the mistakes in helpers that leave their callers right.
        seen: what other judges have seen of known mistakes.

    Raises:
        CheckError: the checks cannot be collected, or reject the solution.
    """
    places = places or Places()
    return with_judge(
        lesson,
        partial(_write, places=places, slip_seconds=slip_seconds, harmless=harmless, seen=seen),
        root=places.root,
        only=only,
        seen=seen,
        reference_type=Asked,
        by_the_book=False,
    )


def _write(judge: Judge, places: Places, slip_seconds: float, harmless: bool, seen: SeenOfMistakes | None) -> Written:
    reference, same = judge.reference, SameAnswers(judge)
    assert isinstance(reference, Asked)
    judge.mistakes = MistakesOfBook(same, places, seen)
    slug = judge.lesson.slug
    book = AnswerBook(slug, judge.version(), checks=checks_of(places, slug))
    written = Written(book)
    book.signatures = {
        name: [[parameter.name, str(parameter.kind)] for parameter in signature.parameters.values()]
        for name, signature in reference.signatures.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a changed solution may well divide by zero
        for exercise in judge.lesson.exercises:
            book.right[exercise.name] = _records_of_reference(judge, reference, exercise, same)
            _write_mistakes(judge, exercise, book)
            if slip_seconds and exercise.seconds <= WORTH_SEARCHING:
                _write_search(judge, exercise, written, slip_seconds, same)
            same.forget_wrong()
        book.harmless = _harmless(judge) if harmless else []
        same.forget_wrong()  # it lets garbage be collected again, too
    book.answers = dict(reference.answers)
    book.called_back = dict(reference.called_back)
    written.no_data = reference.no_data
    return written


def _records_of_reference(judge: Judge, reference: Asked, exercise: Exercise, same: SameAnswers) -> dict[str, Any]:
    """The record of each visible check run on the solution, by check; records the questions that it asks."""
    seen = {}
    items = judge.items_of(exercise.name, True)
    for name, item in zip(visible_checks(judge, exercise.name), items, strict=True):
        with reference.noted(exercise.name):
            record, heard = same.hear(item)
        if not record.passed:
            raise CheckError(f"{name} refuses the solution of {exercise.name}; mend one of them")
        _note_unit_gradients(record, reference, exercise)
        # once more with wrong answers: a check may then ask other questions
        with reference.noted(exercise.name, call_backs=False):
            recorder = Recorder(reference.as_learner, otherwise=True)
            judge.observe([item], recorder)
        same.learn(item, heard, recorder.calls(), record)
        seen[name] = record_as_data(record)
    return seen


def _note_unit_gradients(record: Record, reference: Asked, exercise: Exercise) -> None:
    """Record the solution's answers for an upstream gradient of ones: relations are recognised by them."""
    for comparison in record.comparisons:
        compute = None if comparison.property_only else unit_gradients(comparison, reference)
        if compute is not None:
            # a solution that refuses such a g has no relations with it
            with reference.noted(exercise.name), suppress(Exception):
                compute()


def _write_mistakes(judge: Judge, exercise: Exercise, book: AnswerBook) -> None:
    names = visible_checks(judge, exercise.name)
    for known in judge.mistakes.known:
        if known.exercise == exercise.name:
            evidence = judge.mistakes.evidence(known)
            accepting = set(evidence.accepted_by(len(names)))  # these need not run: the book has no records of them
            seen = {name: evidence[i] for i, name in enumerate(names) if i not in accepting}
            rejecting = {name: record_as_data(record) for name, record in seen.items() if not record.passed}
            book.mistakes.append({"exercise": known.exercise, "name": known.name, "says": known.says})
            book.seen.setdefault(exercise.name, {})[known.name] = rejecting


def _write_search(judge: Judge, exercise: Exercise, written: Written, seconds: float, same: SameAnswers) -> None:
    """Write what visible checks see of the solution with each single slip, and with each pair of known mistakes."""
    search = judge.mistakes.search_of(exercise.name)
    search.limits = same.limits(exercise.name)
    for candidates, into in ((search.all_variants(), written.book.variants), (search.all_pairs(), written.book.pairs)):
        seen = _seen_of_all(candidates, same.quick_first(exercise.name), seconds)
        if seen is None:
            written.not_searched.append(f"{exercise.name}: {len(candidates)} changes take too long to try")
            continue
        found: dict[str, list[Any]] = {}
        for candidate, one in zip(candidates, seen, strict=True):
            if any(one):  # several slips with the same name often give the same: keep one
                found.setdefault(repr((_names(candidate), one)), [*_names(candidate), *one])
        into[exercise.name] = list(found.values())


def _seen_of_all(candidates: Sequence[Candidate], checks: list[int], seconds: float) -> list[list[Seen]] | None:
    """What visible checks see of each candidate; None if all of them would take more processor time than `seconds`.

    They are tried in an order that mixes them, so that the first ones tell how long all take. An endless one takes far
    longer than others, and tells nothing of them: it counts once.
    """
    found: list[list[Seen]] = [[] for _ in candidates]
    began = before = time.process_time()
    endless, ended = 0.0, 0
    for done, i in enumerate(sorted(range(len(candidates)), key=lambda i: i * GOLDEN % 1), start=1):
        found[i] = _seen_of(candidates[i], checks)
        now = time.process_time()
        if found[i]:
            ended += 1
        else:
            endless += now - before
        before, spent = now, now - began
        of_all = endless + (spent - endless) / max(ended, 1) * (len(candidates) - done + ended)
        margin = MARGIN - (MARGIN - 1) * done / len(candidates)  # the more are tried, the surer
        if spent > seconds or (done >= TRIED and of_all > margin * seconds):
            return None
    return found


def _seen_of(candidate: Candidate, checks: list[int]) -> list[Seen]:
    """What each visible check sees of a candidate, in short; empty if it does not terminate in one of them.

    Args:
        checks: the numbers of the checks, in the order in which they run.
    """
    seen: dict[int, Seen] = {}
    for i in checks:
        record = candidate.evidence[i]
        if isinstance(record.ended_by, NoAnswer) or _was_interrupted(record):
            return []
        seen[i] = seen_in_short(record)
    return [seen[i] for i in sorted(seen)]


def _was_interrupted(record: Record) -> bool:
    """Whether a call had to be ended by the timer. No answer gives that: there, the call is one that took too long."""
    return ending(record) == TooLong.__name__ or any(
        one.got == TooLong.__name__ for one in record.comparisons if one.property_only
    )


def _names(candidate: Candidate) -> list[str]:
    return [known.name for known in candidate.known] or [candidate.words]


def _harmless(judge: Judge) -> list[list[str]]:
    """Triples of a helper, its known mistake, and an exercise whose solution calls the helper and passes regardless."""
    names = {exercise.name for exercise in judge.lesson.exercises}
    source = SourceText(parse_submission("solution.py", judge.reference.text.encode()), [])
    found = []
    for exercise in judge.lesson.exercises:
        for helper in sorted(names - {exercise.name}):
            if source.calls(exercise.name, [helper]):
                found += [
                    [helper, known.name, exercise.name]
                    for known in judge.mistakes.known
                    if known.exercise == helper and judge.mistakes.does_no_harm(helper, [known.name], exercise)
                ]
    return found


def main(arguments: list[str]) -> int:
    parser = Arguments("answer_books", __doc__)
    parser.add_argument("lessons", nargs="+")
    for lesson in [parser.lesson(name) for name in parser.read(arguments).lessons]:
        slug = lesson.slug
        try:
            written = written_for(lesson)
        except CheckError as error:
            print(error.args[0], file=sys.stderr)
            return 1
        content = written.book.to_bytes()
        Path(Places().answer_book(slug)).write_bytes(content)
        print(f"{slug}: {len(content):,} bytes, {sum(map(len, written.book.answers.values()))} answers")
        for line in [*written.no_data, *written.not_searched]:
            print("   ", line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
