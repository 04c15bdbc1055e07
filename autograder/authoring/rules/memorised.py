"""A rule about salts: who knows all answers to the visible inputs, and to those of another class, earns a third."""

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
"""Whose answers are known, and who is graded."""
PASSED = Record(comparisons=[Comparison(True, True, (), "", None, 0.0, 0.0, property_only=True)])
"""What stands for a check that has passed."""


def memorised_answers_earn_a_third(course: Course) -> list[Problem]:
    """Rule 1: answers to visible inputs, and to hidden ones of another class, earn at most a third of an exercise."""
    problems = []
    for lesson in whole_lessons(course):
        if unreadable(course, lesson):  # as another rule says
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
    """Exercise, share of its points, and the hidden checks that pass, where one class answers what another was asked.

    The answers to visible inputs are the same for all, so those checks pass and are not run.
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
    """By the id of a hidden check: what the right answers are, in the order in which they are asked for."""
    found: dict[str, list[Answer]] = {}

    class Listening(Recorder):
        def ask(self, request: Call, seconds: float) -> Answer:
            answer = super().ask(request, seconds)
            found[item.nodeid].append(answer)
            return answer

        def forget(self) -> None:  # the answers after it are noted, too
            pass

    run = Listening(judge.reference)
    for item in judge.items:
        if _hidden(item):
            found[item.nodeid] = []
            judge.observe([item], run)
    return found


class _Memory(LocalRun):
    """A submission that answers by the number of the question."""

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__({})
        self._left = deque(answers)

    def ask(self, request: Call, seconds: float) -> Answer:
        """The next answer, whatever is asked."""
        if not self._left:
            raise Missing(f"{called(request)} was asked once too often.")
        return self._left.popleft()
