"""A rule about salts: memorised answers, to visible inputs and to another class's hidden ones, earn at most a third."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest

from autograder.authoring.rules.judged import unreadable, whole_lessons
from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.run import called
from autograder.judging.checking.plugin import identify
from autograder.judging.recorder import Recorder
from autograder.judging.records.errors import CheckError, Missing
from autograder.judging.records.record import Comparison, Record
from autograder.judging.scoring import SHARES, earned_share
from autograder.judging.session import Judge
from autograder.places import file_of
from autograder.worker.messages import Answer, Call
from course.syllabus import Lesson

SALTS = ("a class", "another class")
"""The salt of the class whose answers are known, and that of the class that is graded."""
PASSED = Record(comparisons=[Comparison(True, True, (), "", None, 0.0, 0.0, property_only=True)])
"""Represents a check that has passed."""


def memorised_answers_earn_a_third(course: Course) -> list[Problem]:
    """Rule 1: answers to visible inputs, and to hidden ones of another class, earn at most a third of an exercise."""
    problems = []
    for lesson in whole_lessons(course):
        if unreadable(course, lesson):  # another rule reports it
            continue
        checks = course.checks(lesson.slug)
        try:
            found = memorised(lesson, course.root, course.exercise)
        except CheckError as error:
            problems.append(Problem(course.relative(checks), str(error).partition("\n")[0], "mend the check"))
            continue
        for name, share, passing in found:
            if share > SHARES[True] + 1e-9:
                by = f"by {', '.join(passing)}" if passing else "which has no hidden inputs"
                what = f"answers that were memorised earn {share:.0%} of {name}, {by}"
                file = course.relative(file_of(checks, name))
                problems.append(Problem(file, what, "draw hidden inputs whose answers depend on the class's salt"))
    return problems


def memorised(lesson: Lesson, root: Path | None = None, only: str = "") -> list[tuple[str, float, list[str]]]:
    """For each exercise: its name, the share of points that memorised answers earn, and the hidden checks they pass.

    Visible checks are not run: memorised answers pass them, because their inputs are the same for all classes.
    """
    answers = with_judge(lesson, _answers, salt=SALTS[0], root=root, only=only)

    def use(judge: Judge) -> list[tuple[str, float, list[str]]]:
        found = []
        for exercise in judge.lesson.exercises:
            items = judge.items_of(exercise.name)
            records = [
                judge.observe([item], _Memory(answers[item.nodeid]))[0] if _hidden(item) else PASSED for item in items
            ]
            passing = [
                item.name for item, record in zip(items, records, strict=True) if record.passed and _hidden(item)
            ]
            found.append((exercise.name, earned_share(exercise, items, records), passing))
        return found

    return with_judge(lesson, use, salt=SALTS[1], root=root, only=only)


def _hidden(item: pytest.Item) -> bool:
    check = identify(item)
    return check is not None and not check.visible


def _answers(judge: Judge) -> dict[str, list[Answer]]:
    """The right answers that each hidden check asks for, in order, by the check's node id."""
    found: dict[str, list[Answer]] = {}

    class Listening(Recorder):
        def ask(self, request: Call, seconds: float) -> Answer:
            answer = super().ask(request, seconds)
            found[item.nodeid].append(answer)
            return answer

        def forget(self) -> None:  # go on recording; the base class raises here
            pass

    run = Listening(judge.reference)
    for item in judge.items:
        if _hidden(item):
            found[item.nodeid] = []
            judge.observe([item], run)
    return found


class _Memory(LocalRun):
    """A submission that gives memorised answers in their order, whatever it is asked."""

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__({})
        self._left = deque(answers)

    def ask(self, request: Call, seconds: float) -> Answer:
        """The next memorised answer."""
        if not self._left:
            raise Missing(f"{called(request)} was asked once too often.")
        return self._left.popleft()
