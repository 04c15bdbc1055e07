"""The judge spends a limited time on a submission's data."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from typing import Any

import pytest

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.asking import account
from autograder.judging.asking.time_budget import TimeBudget, unhurried
from autograder.judging.records.errors import TimedOut
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow


def work(seconds: float) -> Any:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_work_without_end_is_ended_and_what_comes_after_has_little() -> None:
    patience = TimeBudget(0.2)
    start = time.process_time()
    for _ in range(2):
        with pytest.raises(TimedOut, match=r"took more than 0\.2 seconds"), patience.spending():
            work(60.0)
    assert time.process_time() - start < 10.0


def test_each_piece_of_work_takes_of_the_same_patience() -> None:
    patience = TimeBudget(0.5)
    with patience.spending():
        work(0.4)
    with pytest.raises(TimedOut), patience.spending():
        work(0.4)


def test_a_timer_that_rings_too_early_ends_nothing() -> None:
    """The timer counts whole ticks, so on a busy machine it may ring a tenth of a second early."""
    patience = TimeBudget(0.5)
    with patience.spending():
        for _ in range(10):
            signal.raise_signal(signal.SIGPROF)
        work(0.3)
    with pytest.raises(TimedOut), patience.spending():
        work(60.0)


def test_waiting_costs_nothing_nor_does_what_a_class_has_once() -> None:
    patience = TimeBudget(0.2)
    with patience.spending():
        time.sleep(0.5)
        unhurried(lambda: work(0.5))
        unhurried(lambda: unhurried(lambda: work(0.3)))
    with pytest.raises(TimedOut), patience.spending():
        work(60.0)


@pytest.mark.parametrize("where", ["explain", "observe"])
def test_a_submission_whose_judging_does_not_end_has_no_points_and_the_next_has_all(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Both in a diagnosis and in a check."""
    lesson = find_lesson("ch06_vjps")
    quick = replace(lesson, exercises=(lesson.exercise("relu_vjp"),))
    wrong = "def relu_vjp(g, x):\n    return x"
    right = "import numpy as np\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)"
    monkeypatch.setattr(account, "TimeBudget", lambda: TimeBudget(0.3))

    def use(judge: Judge) -> list[Any]:
        workers = Workers(judge.lesson, "process")
        whose = judge.mistakes if where == "explain" else judge
        original = getattr(whose, where)
        if where == "explain":
            monkeypatch.setattr(judge.mistakes, "explain", lambda *args, **guess: work(60.0))
        else:
            compare = judge._checks.observe
            monkeypatch.setattr(judge._checks, "observe", lambda item, *enough: [work(60.0), compare(item)][1])
        try:
            first = judge.grade(Submission.of_cells("work.ipynb", [wrong]), workers)
            monkeypatch.undo()
            assert getattr(whose, where) == original
            return [first, judge.grade(Submission.of_cells("work.ipynb", [right]), workers)]
        finally:
            workers.stop()

    first, second = with_judge(quick, use)
    assert (first.points, first.status, first.exercises[0].status) == (0, "graded", "timeout")
    assert "To judge the answers took more than" in first.exercises[0].message
    assert second.points == second.max_points
