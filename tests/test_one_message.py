"""One answer, one message, whatever was graded before it and whatever else the machine does."""

from __future__ import annotations

import itertools
import random
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from autograder.collection import with_judge
from autograder.diagnosis import EditError, edited
from autograder.isolation import Workers
from autograder.judging.checking.reference import Reference
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import find_lesson

EXERCISES = ("max_vjp", "softmax_vjp", "matmul_vjp")
MOST_OF_EACH = 15


def wrong_answers() -> list[str]:
    """The course's solution with two known mistakes in one exercise: few of these pairs have a name of their own."""
    reference = Reference(find_lesson("ch06_vjps"))
    found = []
    for exercise in EXERCISES:
        known = [one for one in reference.misconceptions([exercise]) if one.edits]
        pairs = []
        for one, other in itertools.combinations(known, 2):
            with suppress(EditError, SyntaxError):  # one edit may invalidate the other
                text = edited(edited(reference.text, one.edits), other.edits)
                compile(text, exercise, "exec")
                pairs.append(text)
        found += pairs[:: max(1, len(pairs) // MOST_OF_EACH)][:MOST_OF_EACH]
    return found


def messages(texts: list[str]) -> dict[str, list[str]]:
    """What a class of these answers is told, by answer."""
    lesson = find_lesson("ch06_vjps")
    lesson = replace(lesson, exercises=tuple(lesson.exercise(name) for name in EXERCISES))

    def graded(judge: Judge) -> dict[str, list[str]]:
        workers = Workers(lesson, "process")
        try:
            results = {text: judge.grade(Submission.of_cells("a test", [text]), workers) for text in texts}
        finally:
            workers.stop()
        return {text: [one.message for one in result.exercises] for text, result in results.items()}

    return with_judge(lesson, graded)


def with_clocks_of_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processor time pass forty times as fast, and give each check seconds by chance."""
    processor, draws = time.process_time, random.Random(0)
    elapsed = itertools.accumulate(iter(draws.random, None))
    monkeypatch.setattr(time, "process_time", lambda: 40 * processor())
    monkeypatch.setattr(time, "perf_counter", lambda: next(elapsed))


@pytest.mark.slow
def test_dozens_of_wrong_answers_are_told_the_same_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this compares messages of two classes byte by byte, the second one on a machine that seems to be busy."""
    texts = wrong_answers()
    assert len(texts) > 30
    told = messages(texts)
    with_clocks_of_a_busy_machine(monkeypatch)
    assert messages(texts[::-1]) == told
    assert sum("First" in message for of_one in told.values() for message in of_one) > 5, "searches find some of them"
