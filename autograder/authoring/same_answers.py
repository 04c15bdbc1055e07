"""Runs checks on many changed solutions, and not again where their answers are those of one that ran already.

A check is a function of the answers to its calls. Most checks make the same calls whatever the answers are, as in
`autograder.judging.asking.prefetched`. So a changed solution makes these calls first, and if all its answers are equal
to another's, the check saw the same of it. Comparing often costs more than answering: most mistakes in a helper of ch07
change nothing of a training run, of which a check computes slopes.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Sequence

import pytest

from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.prefetched import PrefetchedCall, request_key
from autograder.judging.asking.run import Run
from autograder.judging.checking.plugin import identify
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.known_mistakes import KnownMistakes, SeenOfMistakes
from autograder.judging.recorder import prefetched
from autograder.judging.records.errors import LearnerError
from autograder.judging.records.keys import key_of
from autograder.judging.records.record import Record
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.worker import wire
from autograder.worker.messages import Answer, Call
from course.syllabus import Exercise, Lesson

QUICK_SECONDS = 0.3
"""Processor time of the calls of a quick check; those of others train networks."""
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


class _Answered(LocalRun):
    """A run that has answered some calls already; the changed solution itself is asked all others."""

    def __init__(self, run: LocalRun, calls: Sequence[PrefetchedCall], answers: Sequence[Answer]) -> None:
        super().__init__({}, run.module)
        self.asked_more = False
        """Whether the check has made another call, so that the answers do not decide what it sees."""
        self._run = run
        self._known = deque(zip(calls, answers, strict=True))

    def ask(self, request: Call, seconds: float) -> Answer:
        if self._known and self._known[0][0].key == request_key(request):
            return self._known.popleft()[1]
        self.asked_more = True
        return self._run.ask(request, seconds)


class SameAnswers:
    """A judge for known mistakes that looks up what a check saw of answers that it has seen before."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._calls: dict[str, Sequence[PrefetchedCall]] = {}
        """By id of a check: all of its calls, if it makes them whatever the answers are."""
        self._records: dict[tuple[str, bytes], Record] = {}
        self._right: dict[str, bytes] = {}
        """By id of a check: the key of the solution's answers."""
        self._slow: set[str] = set()
        """Ids of checks that are not quick."""
        self._took: dict[str, float] = {}
        """By id of a check: its seconds with the solution."""

    @property
    def lesson(self) -> Lesson:
        return self._judge.lesson

    @property
    def reference(self) -> Reference:
        return self._judge.reference

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]:
        return self._judge.items_of(exercise, visible)

    def learn(self, item: pytest.Item, right: Heard, wrong: list[PrefetchedCall | None], record: Record) -> None:
        """Learn which calls a check makes, of a run of the solution, and what it saw of that.

        Args:
            wrong: the calls that it makes if the answers are wrong, from a `Recorder`.
        """
        self._took[item.nodeid] = record.seconds
        check = prefetched(right.calls, wrong)
        if check.whole and check.calls:
            self._calls[item.nodeid] = check.calls
            if (key := _key(right.answers)) is not None:
                self._records[item.nodeid, key] = record
                self._right[item.nodeid] = key
                if right.seconds > QUICK_SECONDS:
                    self._slow.add(item.nodeid)

    def quick_first(self, exercise: str) -> list[int]:
        """The numbers of an exercise's visible checks, those first that the solution passes quickly.

        A change that makes a loop endless is then found out by a check that costs little.
        """
        took = [self._took.get(item.nodeid, 0.0) for item in self.items_of(exercise, True)]
        return sorted(range(len(took)), key=took.__getitem__)

    def answers_as_right(self, items: list[pytest.Item], run: LocalRun) -> bool:
        """Whether a run gives the solution's answers, bit by bit, to the quick ones of an exercise's checks.

        If it does, it is not asked by the others; False where one of those compares more than the values of its calls.
        """
        slow = [item for item in items if item.nodeid in self._slow]
        quick = [item for item in items if item.nodeid not in self._slow]
        if not quick or not all((check := identify(item)) and check.promise == "value" for item in slow):
            return False
        return all(item.nodeid in self._right and self._key_of(item, run) == self._right[item.nodeid] for item in quick)

    def forget_wrong(self) -> None:
        """Forget what checks saw of other answers than the solution's: those of one exercise are no use to another."""
        self._records = {key: record for key, record in self._records.items() if self._right.get(key[0]) == key[1]}

    def _key_of(self, item: pytest.Item, run: LocalRun) -> bytes | None:
        try:
            return _key([run.ask(call.request, SECONDS) for call in self._calls[item.nodeid]])
        except LearnerError:
            return None

    def observe(
        self, items: list[pytest.Item], run: Run, *, enough: Callable[[Record], bool] | None = None
    ) -> list[Record]:
        """As `Judge.observe`; the record of a check that is to end early may be a whole one."""
        return [self._observed(item, run, enough) for item in items]

    def _observed(self, item: pytest.Item, run: Run, enough: Callable[[Record], bool] | None) -> Record:
        calls = self._calls.get(item.nodeid)
        if calls is None or not isinstance(run, LocalRun):
            return self._judge.observe([item], run, enough=enough)[0]
        try:
            answers = [run.ask(call.request, SECONDS) for call in calls]
        except LearnerError:  # an answer that cannot be read: the check says so
            return self._judge.observe([item], run, enough=enough)[0]
        key = _key(answers)
        if key is not None and (item.nodeid, key) in self._records:
            return self._records[item.nodeid, key]
        answered = _Answered(run, calls, answers)
        record = self._judge.observe([item], answered, enough=enough)[0]
        if key is not None and not record.cut and not answered.asked_more:
            self._records[item.nodeid, key] = record
        return record


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
            items = self._same.items_of(exercise.name, True)
            runs = [self._run_of(known) for known in self.of(helper) if known.name in named]
            if runs and all(isinstance(run, LocalRun) and self._same.answers_as_right(items, run) for run in runs):
                self._harmless[key] = True
        return super().does_no_harm(helper, named, exercise)


def _key(answers: Sequence[Answer]) -> bytes | None:
    """A hash that only equal answers have; None if they contain objects."""
    try:
        return hashlib.sha256(repr([key_of(answer) for answer in answers]).encode()).digest()
    except wire.WireError:
        return None
