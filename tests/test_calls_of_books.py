"""What an answer book costs: a check asks a changed solution no more than it reads; what is kept costs no search."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from autograder.authoring.same_answers import Heard, SameAnswers
from autograder.collection import with_judge
from autograder.judging.recorder import Recorder
from autograder.judging.records.record import Record
from autograder.judging.session import Judge
from autograder.worker.interrupts import TooLong
from course.syllabus import find_lesson

LESSON, EXERCISE = find_lesson("ch06_vjps"), "relu_vjp"


def _with_answer(answer: Callable[..., Any], enough: Callable[[Record], bool] | None = None) -> tuple[int, int, int]:
    """How often a function in the place of the solution is called, of how many calls, and again the second time."""

    def use(judge: Judge) -> tuple[int, int, int]:
        same, items, of_all = SameAnswers(judge), judge.items_of(EXERCISE, True), 0
        for item in items:
            heard, recorder = Heard(judge.reference.local()), Recorder(judge.reference, otherwise=True)
            record = judge.observe([item], heard)[0]
            judge.observe([item], recorder)
            same.learn(item, heard, recorder.calls(), record)
            of_all += len(heard.calls)
        called = list[int]()

        def counted(*args: Any) -> Any:
            called.append(1)
            return answer(*args)

        run, counts = judge.reference.local(EXERCISE, counted), []
        for _ in range(2):
            for item in items:
                try:
                    same.observe([item], run, enough=enough)
                except TooLong:
                    break
            counts.append(len(called))
        assert gc.get_freeze_count() > 0
        same.forget_wrong()
        assert gc.get_freeze_count() == 0
        return counts[0], of_all, counts[1] - counts[0]

    return with_judge(LESSON, use, only=EXERCISE, by_the_book=False)


def _raising(error: BaseException) -> Callable[..., Any]:
    def answer(*args: Any) -> Any:
        raise error

    return answer


def test_no_call_is_made_after_one_that_ends_its_check() -> None:
    called, of_all, again = _with_answer(_raising(ValueError("no")))
    assert called < of_all / 2
    assert again == called


def test_a_timer_ends_a_change_once() -> None:
    """Each further call was ended by the timer, too, a tenth of a second later."""
    assert _with_answer(_raising(TooLong()))[0] == 1


def test_where_one_failure_is_enough_no_call_is_made_after_it() -> None:
    called, of_all, _ = _with_answer(lambda g, x: g, lambda record: bool(record.comparisons[-1].problems))
    assert called < of_all / 2
