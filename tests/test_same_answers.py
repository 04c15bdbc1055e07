"""A check is not run again on answers that it has had, and what the book says it saw of them is true."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any, cast

import pytest

from autograder.answerbook.records import record_as_data
from autograder.answerbook.variants import seen_in_short
from autograder.authoring.answer_books import TRIED, _seen_of, _seen_of_all, _was_interrupted
from autograder.authoring.same_answers import Heard, SameAnswers
from autograder.collection import with_judge
from autograder.judging.explaining.evidence import Evidence
from autograder.judging.explaining.searching import Candidate
from autograder.judging.recorder import Recorder
from autograder.judging.records.errors import Raised
from autograder.judging.records.record import Record
from autograder.judging.session import Judge
from autograder.worker.execution import Failure
from course.syllabus import find_lesson

LESSON, EXERCISE = find_lesson("ch06_vjps"), "relu_vjp"


def test_what_is_looked_up_is_what_the_check_would_see(monkeypatch: pytest.MonkeyPatch) -> None:
    def use(judge: Judge) -> None:
        same, ran = SameAnswers(judge), list[int]()
        items = judge.items_of(EXERCISE, True)
        for item in items:
            heard, recorder = Heard(judge.reference.local()), Recorder(judge.reference, otherwise=True)
            record = judge.observe([item], heard)[0]
            judge.observe([item], recorder)
            same.learn(item, heard, recorder.calls(), record)
        runs = [judge.reference.local(), *(judge.reference.mistaken(known) for known in judge.mistakes.of(EXERCISE))]
        alone = [[record_as_data(record) for record in judge.observe(items, run)] for run in runs]
        observe = Judge.observe

        def counted(self: Judge, *args: Any, **how: Any) -> list[Record]:
            ran.append(1)
            return observe(self, *args, **how)

        monkeypatch.setattr(Judge, "observe", counted)
        assert [[record_as_data(record) for record in same.observe(items, run)] for run in runs] == alone
        first = len(ran)
        assert first < len(runs) * len(items)
        assert [[record_as_data(record) for record in same.observe(items, run)] for run in runs] == alone
        assert len(ran) - first < first / 2
        gone = _garbage()
        same.forget_wrong()
        assert gone() is None, "what was kept of wrong answers may be part of a cycle"
        kept = _garbage()
        same.forget_wrong()
        assert kept() is not None, "where nothing was kept, no garbage is looked for"
        counts = [len(ran)]
        for run in runs[:2]:
            same.observe(items, run)
            counts.append(len(ran))
        assert counts[1] - counts[0] < counts[2] - counts[1], "the solution's answers are known still"
        assert same.answers_as_right(items, runs[0])
        assert not same.answers_as_right(items, runs[1])

    with_judge(LESSON, use, only=EXERCISE, by_the_book=False)


def test_garbage_is_collected_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection at each exercise took a sixth of the time of ch02's book."""
    clock, collected = [0.0], list[float]()

    def collect() -> None:
        collected.append(clock[0])
        clock[0] += 0.1

    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    monkeypatch.setattr(gc, "collect", collect)
    same = SameAnswers(cast("Any", None))
    for _ in range(6):
        same._records["a check", b"a wrong answer"] = Record()
        same.forget_wrong()
        assert not same._records
        clock[0] += 0.5
    assert collected == [0.0, pytest.approx(2.1)], "the second after twenty times the first"


def _garbage() -> weakref.ref[Any]:
    """A cycle to which nothing else refers."""
    cycle = type("Cycle", (), {})  # a class refers to itself
    gc.freeze()  # as what is kept is, or any collection would find it
    return weakref.ref(cycle)


def test_a_change_that_a_timer_ended_is_not_in_the_book() -> None:
    """A submission's endless call is one that took too long: it never gives what a timer of ours gives."""
    endless = Record(ended_by=Raised("", Failure("TooLong", [], "", "", "", "")))
    assert _was_interrupted(endless)
    records = [Record(ended_by=Raised("", Failure("ValueError", [], "", "", "", ""))), endless]
    candidate = Candidate("a slip", Evidence(2, lambda i, enough: records[i]))
    assert _seen_of(candidate, [1, 0]) == []
    assert _seen_of(candidate, [0]) == [seen_in_short(records[0])]


@pytest.mark.parametrize(
    ("endless", "each", "searched"), [(1, 0.08, True), (0, 0.08, True), (1, 1.0, False), (8, 0.08, False)]
)
def test_an_endless_slip_counts_once(
    monkeypatch: pytest.MonkeyPatch, endless: int, each: float, searched: bool
) -> None:
    """One among the first that are tried does not count as if each twentieth were endless, which drops all others."""
    clock, right = [0.0], Record()
    slow = Record(ended_by=Raised("", Failure("TooLong", [], "", "", "", "")))

    def evidence(at: int) -> Evidence:
        def observe(i: int, enough: Any) -> Record:
            clock[0] += 3.0 if at < endless else each
            return slow if at < endless else right

        return Evidence(1, observe)

    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    candidates = [Candidate("a slip", evidence(at)) for at in range(10 * TRIED)]
    assert (_seen_of_all(candidates, [0], 20.0) is not None) == searched
