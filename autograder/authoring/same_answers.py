"""Runs checks on many changed solutions, and not again where their answers are those of one that ran already.

A check is a function of the answers to its calls. Most checks make the same calls whatever the answers are, as in
`autograder.judging.asking.prefetched`. So a changed solution makes these calls first, and if all its answers are equal
to another's, the check saw the same of it. Comparing often costs more than answering: most mistakes in a helper of ch07
change nothing of a training run, of which a check computes slopes.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from weakref import WeakKeyDictionary

import pytest

from autograder.authoring.reached import Marked, Parts
from autograder.diagnosis import EditError, Misconception, edited
from autograder.judging.asking.local_run import Edited, LocalRun
from autograder.judging.asking.prefetched import PrefetchedCall, request_key
from autograder.judging.asking.run import Run
from autograder.judging.checking.plugin import identify
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.known_mistakes import KnownMistakes, SeenOfMistakes, has_failed
from autograder.judging.explaining.searching import CHANGE_SECONDS
from autograder.judging.recorder import prefetched
from autograder.judging.records.errors import LearnerError
from autograder.judging.records.keys import key_of
from autograder.judging.records.record import Record
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.worker import wire
from autograder.worker.interrupts import TooLong, at_most
from autograder.worker.messages import Answer, Call
from course.syllabus import Exercise, Lesson

QUICK_SECONDS = 0.3
"""Processor time of the calls of a quick check; those of others train networks."""
TIMES_LONGER, LEAST_SECONDS = 50, 0.2
"""A change that takes so many times as long as the solution, and at least so much processor time, is endless."""
HARM_TIMES, HARM_SECONDS = 20, 2.0
"""A mistake in a helper that makes a check take so many times as long, and so much processor time, does harm."""
BETWEEN_COLLECTIONS = 20
"""Garbage is collected after so many times the processor time of the last collection: at each exercise, collections
took a sixth of ch02's book."""
SECONDS = 60.0
"""What a call is said to have; our own functions have no limit of their own."""


class Heard(LocalRun):
    """A run of the solution that notes its calls and answers."""

    def __init__(self, run: LocalRun) -> None:
        super().__init__({}, run.module)
        self.calls: list[PrefetchedCall | None] = []
        """None for a call that cannot be made before its check runs."""
        self.answers: list[Answer] = []
        self.seconds = 0.0
        """Processor time of all answers."""
        self._run = run

    def ask(self, request: Call, seconds: float) -> Answer:
        key = request_key(request)
        # copied now, because the check may change its arguments later
        self.calls.append(None if key is None else PrefetchedCall(key, wire.decode(wire.encode(request))))
        began = time.process_time()
        self.answers.append(self._run.ask(request, seconds))
        self.seconds += time.process_time() - began
        return self.answers[-1]

    def forget(self) -> None:
        self.calls.append(None)


class _Foreseen(LocalRun):
    """A run that makes the calls that a check is known to make: before it, or when it asks for them.

    Args:
        calls: all of the check's calls; empty if they are not known.
    """

    def __init__(self, run: LocalRun, calls: Sequence[PrefetchedCall]) -> None:
        super().__init__({}, run.module)
        self.unforeseen = False
        """Whether the check has made another call, so that the answers do not decide what it sees."""
        self._run = run
        self._calls = calls
        self._answers: list[Answer] = []
        self._read = 0
        """How many of the answers the check has asked for."""
        self._key: _Key | None = _Key()

    @property
    def made(self) -> int:
        """The number of foreseen calls that were made."""
        return len(self._answers)

    def key(self) -> bytes | None:
        """The key of the answers to the foreseen calls so far; None if they contain objects."""
        return None if self._key is None else self._key.digest()

    def make(self) -> bool:
        """Make the next of the foreseen calls, and return whether it gave a value.

        Raises:
            LearnerError: the answer cannot be read.
            TooLong: a timer ended the call.
        """
        answer = _in_time(self._run.ask(self._calls[self.made].request, SECONDS))
        self._answers.append(answer)
        if self._key is not None and not self._key.add(answer):
            self._key = None
        return answer.get("failure") is None and not answer.get("missing")

    def ask(self, request: Call, seconds: float) -> Answer:
        expected = self._calls[self._read].key if self._read < len(self._calls) else None
        if not self.unforeseen and expected is not None and expected == request_key(request):
            if self._read == self.made:
                self.make()
            self._read += 1
            return self._answers[self._read - 1]
        self.unforeseen = True
        return _in_time(self._run.ask(request, seconds))


class SameAnswers:
    """A judge for known mistakes that looks up what a check saw of answers that it has seen before."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._calls: dict[str, Sequence[PrefetchedCall]] = {}
        """By id of a check: all of its calls, if it makes them whatever the answers are."""
        self._records: dict[tuple[str, bytes], Record] = {}
        self._right: dict[str, list[bytes]] = {}
        """By id of a check: the keys of the solution's first answer, of its first two, and so on."""
        self._asks_on: set[tuple[str, int]] = set()
        """Ids of checks, each with the number of a call after whose failure it may ask for more."""
        self._slow: set[str] = set()
        """Ids of checks that are not quick."""
        self._took: dict[str, float] = {}
        """By id of a check: its processor time with the solution."""
        self._of_right: dict[str, tuple[Record, Parts]] = {}
        """By id of a check: what it saw of the solution, and the solution's parts that it reached."""
        self._next_collection = 0.0
        """Processor time from which on garbage is collected."""
        self._changed: WeakKeyDictionary[LocalRun, Parts | None] = WeakKeyDictionary()
        """The parts that a run's edits change, of runs that have reached none of them yet."""

    @property
    def lesson(self) -> Lesson:
        return self._judge.lesson

    @property
    def reference(self) -> Reference:
        return self._judge.reference

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]:
        return self._judge.items_of(exercise, visible)

    @cached_property
    def _marked(self) -> Marked:
        return Marked(self.reference.text, str(self.reference.module.__file__))

    @cached_property
    def _solution(self) -> LocalRun:
        """The solution, noting which of its parts it reaches."""
        return self.reference.local_codes([self._marked.code], **self._marked.names)

    def hear(self, item: pytest.Item) -> tuple[Record, Heard]:
        """Run a check on the solution: what it saw, and its calls."""
        heard = Heard(self._solution)
        self._marked.reached()
        began = time.process_time()
        record = self._judge.observe([item], heard)[0]
        self._took[item.nodeid] = time.process_time() - began
        self._of_right[item.nodeid] = record, self._marked.reached()
        return record, heard

    def learn(self, item: pytest.Item, right: Heard, wrong: list[PrefetchedCall | None], record: Record) -> None:
        """Learn which calls a check makes, of a run of the solution, and what it saw of that.

        Args:
            wrong: the calls that it makes if the answers are wrong, from a `Recorder`.
        """
        check = prefetched(right.calls, wrong)
        if check.whole and check.calls:
            self._calls[item.nodeid] = check.calls
            if (keys := _keys(right.answers)) is not None:
                self._records[item.nodeid, keys[-1]] = record
                self._right[item.nodeid] = keys
                if right.seconds > QUICK_SECONDS:
                    self._slow.add(item.nodeid)

    def quick_first(self, exercise: str) -> list[int]:
        """The numbers of an exercise's visible checks, those first that the solution passes quickly.

        A change that makes a loop endless is then found out by a check that costs little.
        """
        took = [self._took.get(item.nodeid, 0.0) for item in self.items_of(exercise, True)]
        return sorted(range(len(took)), key=took.__getitem__)

    def harm_limit(self, item: pytest.Item) -> float:
        """Processor time that a check may have where a helper has a mistake, without which it takes far less."""
        return max(HARM_SECONDS, HARM_TIMES * self._took.get(item.nodeid, 0.0))

    def limits(self, exercise: str) -> dict[int, float]:
        """Processor time that a changed solution may have, by number of an exercise's visible checks."""
        took = [self._took.get(item.nodeid, CHANGE_SECONDS) for item in self.items_of(exercise, True)]
        return {i: min(CHANGE_SECONDS, max(LEAST_SECONDS, TIMES_LONGER * one)) for i, one in enumerate(took)}

    def reaching(self, items: list[pytest.Item], source: Edited) -> list[pytest.Item]:
        """The checks that may see something else of an edited source than of the solution."""
        changed = self._marked.changed(source)
        return [item for item in items if not self._reaches_none(item, changed)]

    def _reaches_none(self, item: pytest.Item, changed: Parts | None) -> bool:
        right = self._of_right.get(item.nodeid)
        return changed is not None and right is not None and changed.isdisjoint(right[1])

    def answers_as_right(self, items: list[pytest.Item], run: LocalRun) -> bool:
        """Whether a run gives the solution's answers, bit by bit, to the quick ones of an exercise's checks.

        If it does, it is not asked by the others; False where one of those compares more than the values of its calls.
        Raises `TooLong` where a check takes longer than `harm_limit`.
        """
        slow = [item for item in items if item.nodeid in self._slow]
        quick = [item for item in items if item.nodeid not in self._slow]
        if not quick or not all((check := identify(item)) and check.promise == "value" for item in slow):
            return False
        return all(item.nodeid in self._right and self._as_right(item, run) for item in quick)

    def _as_right(self, item: pytest.Item, run: LocalRun) -> bool:
        answered = _Foreseen(run, self._calls[item.nodeid])
        try:
            with at_most(self.harm_limit(item)):
                for key in self._right[item.nodeid]:
                    answered.make()
                    if answered.key() != key:
                        return False
        except LearnerError:
            return False
        return True

    def forget_wrong(self) -> None:
        """Forget what checks saw of other answers than the solution's: those of one exercise are no use to another."""
        before = len(self._records)
        self._records = {key: one for key, one in self._records.items() if self._right.get(key[0], [b""])[-1] == key[1]}
        gc.unfreeze()
        if len(self._records) == before:  # as in health rules, which keep no answers
            return
        began = time.process_time()
        if began >= self._next_collection:
            gc.collect()
            ended = time.process_time()
            self._next_collection = ended + BETWEEN_COLLECTIONS * (ended - began)

    def observe(
        self, items: list[pytest.Item], run: Run, *, enough: Callable[[Record], bool] | None = None
    ) -> list[Record]:
        """As `Judge.observe`; the record of a check that is to end early may be a whole one.

        Raises `TooLong` if a timer ended a call.
        """
        return [self._observed(item, run, enough) for item in items]

    def _observed(self, item: pytest.Item, run: Run, enough: Callable[[Record], bool] | None) -> Record:
        gc.freeze()  # what is kept of other solutions would be searched by each gc.collect() of a scenario
        if not isinstance(run, LocalRun):
            return self._judge.observe([item], run, enough=enough)[0]
        if run.edited is not None and run not in self._changed:
            self._changed[run] = self._marked.changed(run.edited)
        if self._reaches_none(item, self._changed.get(run)):
            return self._of_right[item.nodeid][0]
        self._changed[run] = None  # from now on, it may have left something behind
        answered = _Foreseen(run, self._calls.get(item.nodeid, ()))
        if (known := self._looked_up(item, answered, whole=enough is None)) is not None:
            return known
        made = answered.made
        record = self._judge.observe([item], answered, enough=enough)[0]
        if answered.unforeseen or record.cut:
            return record
        if answered.made > made:
            self._asks_on.add((item.nodeid, made))
        if answered.made and (key := answered.key()) is not None:
            self._records[item.nodeid, key] = record
        return record

    def _looked_up(self, item: pytest.Item, answered: _Foreseen, *, whole: bool) -> Record | None:
        """What a check saw of the same answers, if it had them.

        A check asks for no more after most calls that fail. So they are compared when one fails, and when all are made.

        Args:
            whole: whether the check runs to its end; if not, calls are made only as long as their answers are right.
        """
        right = self._right.get(item.nodeid, [])
        for number, _ in enumerate(self._calls.get(item.nodeid, ()), start=1):
            try:
                gave_value = answered.make()
            except LearnerError:  # an answer that cannot be read: the check says so
                return None
            if not whole and (number > len(right) or answered.key() != right[number - 1]):
                return None
            if not gave_value and (item.nodeid, number) not in self._asks_on:
                break
        key = answered.key()
        return None if key is None else self._records.get((item.nodeid, key))


class MistakesOfBook(KnownMistakes):
    """What a book has of known mistakes.

    Args:
        same: the judge.
        places, seen: as in `KnownMistakes`.
    """

    def __init__(self, same: SameAnswers, places: Places, seen: SeenOfMistakes | None) -> None:
        super().__init__(same, places, seen)
        self._same = same

    def does_no_harm(self, helper: str, named: Sequence[str], exercise: Exercise) -> bool:
        """As in `KnownMistakes`. A mistake that changes no answer of quick training runs does not harm slow ones."""
        key = helper, tuple(named), exercise.name
        if key not in self._harmless:
            known = [one for one in self.of(helper) if one.name in named]
            self._harmless[key] = bool(known) and all(self._is_harmless(one, exercise) for one in known)
        return self._harmless[key]

    def _is_harmless(self, known: Misconception, exercise: Exercise) -> bool:
        items = self._same.items_of(exercise.name, True)
        items = [items[i] for i in self._same.quick_first(exercise.name)]
        if known.edits:
            with suppress(EditError):  # `_run_of` says so
                items = self._same.reaching(items, edited(self._same.reference.text, known.edits))
        if not items:
            return True
        run = self._run_of(known)
        try:
            if isinstance(run, LocalRun) and self._same.answers_as_right(items, run):
                return True
            return all(self._passes(known, run, item) for item in items)
        except TooLong:
            return False

    def _passes(self, known: Misconception, run: Run, item: pytest.Item) -> bool:
        """Whether a check accepts an exercise whose helper has a mistake. Raises `TooLong`."""
        with at_most(self._same.harm_limit(item)):
            return self._observe_mistake(known, run, item, has_failed).passed


class _Key:
    """A hash of answers, one after the other, that only equal ones have."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, answer: Answer) -> bool:
        """Add an answer; False if it contains objects."""
        try:
            self._hash.update(repr(key_of(answer)).encode())
        except wire.WireError:
            return False
        return True

    def digest(self) -> bytes:
        return self._hash.digest()


def _keys(answers: Sequence[Answer]) -> list[bytes] | None:
    """The keys of the first answer, of the first two, and so on; None if they contain objects."""
    key, found = _Key(), list[bytes]()
    for answer in answers:
        if not key.add(answer):
            return None
        found.append(key.digest())
    return found


def _in_time(answer: Answer) -> Answer:
    """The answer. Raises `TooLong` if that is what the call raised: those after it would be ended, too, one by one."""
    failure = answer.get("failure")
    if isinstance(failure, dict) and failure.get("kind") == TooLong.__name__:
        raise TooLong
    return answer
