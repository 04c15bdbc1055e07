"""A check that reaches no changed statement of a solution is not run again for an answer book."""

from __future__ import annotations

import itertools
import time
from types import ModuleType
from typing import Any

import pytest

from autograder.authoring import same_answers
from autograder.authoring.reached import Marked
from autograder.authoring.same_answers import LEAST_SECONDS, MistakesOfBook, SameAnswers
from autograder.collection import with_judge
from autograder.judging.recorder import Recorder
from autograder.judging.session import Judge
from autograder.places import Places
from course.syllabus import find_lesson

SOURCE = '''\
import math

NEAR = 1e-6


def sign(x, small=0.5):
    """1, -1, or 0."""
    if x > 0:
        y = 1
    elif x < 0:
        y = -1
    else:
        y = 0
    return y


def both(x):
    """The sign, and a function of a number."""
    def times(z):
        z = z + 1
        return z * x
    return sign(x), lambda g: (
        g * x
    ), times


class Number:
    """A number."""

    def __init__(self, x):
        self.x = x

    def root(self):
        try:
            return math.sqrt(self.x)
        except ValueError:
            return None
'''


def _may_differ(before: str, after: str, call: str) -> bool:
    """Whether a call may give something else after an edit of the source."""
    marked, module = Marked(SOURCE), ModuleType("marked")
    vars(module).update(marked.names)
    exec(marked.code, vars(module))
    assert SOURCE.count(before) == 1
    changed = marked.changed(SOURCE.replace(before, after))
    marked.reached()
    eval(call, vars(module))
    return changed is None or not changed.isdisjoint(marked.reached())


@pytest.mark.parametrize(
    ("before", "after", "call", "differs"),
    [
        ("y = -1", "y = 1", "sign(2)", False),
        ("y = -1", "y = 1", "sign(-2)", True),
        ("elif x < 0", "elif x <= 0", "sign(2)", False),
        ("elif x < 0", "elif x <= 0", "sign(0)", True),
        ("    else:\n        y = 0\n", "    elif x == 0:\n        y = 0\n", "sign(2)", False),
        ("    else:\n        y = 0\n", "", "sign(2)", False),
        ("    else:\n        y = 0\n", "", "sign(0)", True),
        ("    return y\n", "    y = y + 1\n    return y\n", "sign(2)", True),
        ("    return y\n", "    return y\n    y = 0\n", "sign(2)", True),
        ("1, -1, or 0", "The sign", "sign(2)", True),
        ("y = -1", "math = -1", "sign(2)", True),  # it would be a local name
        ("y = -1", "yield 1", "sign(2)", True),
        ("small=0.5", "small=0.25", "both(2)", True),
        ("1e-6", "1e-5", "sign(2)", True),
        ("class Number:", "class Number(float):", "sign(2)", True),
        ("g * x", "g + x", "both(2)", False),
        ("g * x", "g + x", "both(2)[1](3)", True),
        ("lambda g: (", "lambda g, h=1: (", "both(2)", True),
        ("z * x", "z - x", "both(2)[2]", False),
        ("z * x", "z - x", "both(2)[2](3)", True),
        ("z = z + 1", "z = 1", "both(2)[2]", False),
        ("        z = z + 1\n", "", "both(2)[2](3)", True),
        ("return None", "return 0", "Number(4).root()", False),
        ("return None", "return 0", "Number(-4).root()", True),
        ("except ValueError", "except TypeError", "Number(4).root()", True),
        ("return None", "return 0", "sign(2)", False),
        ("self.x = x", "self.x = -x", "Number(4)", True),
        ("\n\nclass", "\n\nx = 1\n\n\nclass", "sign(2)", True),
    ],
)
def test_an_edit_changes_nothing_where_it_is_not_reached(before: str, after: str, call: str, differs: bool) -> None:
    assert _may_differ(before, after, call) == differs


def test_two_edits_are_looked_at_one_by_one() -> None:
    marked = Marked(SOURCE)
    both = SOURCE.replace("y = -1", "y = 1").replace("return None", "return 0")
    one, other = (marked.changed(SOURCE.replace(*swap)) for swap in (("y = -1", "y = 1"), ("return None", "return 0")))
    assert one
    assert other
    assert marked.changed(both) == one | other
    assert marked.changed(SOURCE) == frozenset()


HELPER, MISTAKE, EXERCISE = "Tensor", "divide_without_square", "Tensor.detach"
"""A mistake in the gradient of a quotient, which no check of the exercise asks for."""


def test_a_mistake_that_an_exercise_does_not_reach_harms_it_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of ch05's book was that: each mistake in `Tensor` was tried in all trainings of digits."""
    observe = Judge.observe

    def use(judge: Judge) -> None:
        same = SameAnswers(judge)
        mistakes = MistakesOfBook(same, Places(), {})
        items, exercise = judge.items_of(EXERCISE, True), judge.lesson.exercise(EXERCISE)
        (known,) = (one for one in mistakes.of(HELPER) if one.name == MISTAKE)
        (another,) = (one for one in mistakes.of(HELPER) if one.name == "multiply_not_unbroadcast")
        for item in items:
            same.hear(item)
        asked = list[Any]()

        def counted(*args: Any, **how: Any) -> Any:
            asked.append(args)
            return observe(*args, **how)

        monkeypatch.setattr(Judge, "observe", counted)
        assert mistakes.does_no_harm(HELPER, [MISTAKE], exercise)
        assert not asked
        mistakes.does_no_harm(HELPER, [another.name], exercise)
        assert asked
        assert all(one.passed for one in judge.observe(items, judge.reference.mistaken(known)))

    with_judge(find_lesson("ch05_autograd_engine"), use, only=[HELPER, EXERCISE], by_the_book=False)


def test_a_change_may_take_a_multiple_of_the_solutions_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits were multiples of the time that had passed, which is longer on a busy machine."""
    clock = itertools.count(0.0, 60.0)

    def use(judge: Judge) -> None:
        same = SameAnswers(judge)
        monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
        monkeypatch.setattr(time, "process_time", lambda: 0.001)
        (item, *_) = judge.items_of("relu_vjp", True)
        assert same.hear(item)[0].seconds >= 60
        assert same.limits("relu_vjp")[0] == LEAST_SECONDS

    with_judge(find_lesson("ch06_vjps"), use, only="relu_vjp", by_the_book=False)


def test_a_helper_that_takes_far_longer_does_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """One mistake in hvp, which computes the whole Hessian, took 48 of ch13's 130 seconds in hessian_trace."""
    monkeypatch.setattr(same_answers, "HARM_SECONDS", 0.2)
    monkeypatch.setattr(same_answers, "HARM_TIMES", 1)

    def use(judge: Judge) -> float:
        same = SameAnswers(judge)
        mistakes = MistakesOfBook(same, Places(), {})
        for item in judge.items_of("hessian_trace", True):
            record, heard = same.hear(item)
            judge.observe([item], recorder := Recorder(judge.reference, otherwise=True))
            same.learn(item, heard, recorder.calls(), record)
        began = time.process_time()
        assert not mistakes.does_no_harm("hvp", ["hessian_row_by_row"], judge.lesson.exercise("hessian_trace"))
        return time.process_time() - began

    lesson = find_lesson("ch13_beyond_first_order")
    assert with_judge(lesson, use, only=["hvp", "hessian_trace"], by_the_book=False) < 10
