"""Shares of the points that a repaired program gets."""

from __future__ import annotations

from autograder.collection import with_judge
from autograder.judging.scoring import earned_share
from autograder.judging.session import Judge
from course.syllabus import find_lesson

LESSON = find_lesson("ch12_debugging")


def shares_of(name: str, texts: list[str]) -> list[float]:
    """What share of an exercise each of these texts of the lesson earns."""

    def grade(judge: Judge) -> list[float]:
        items, exercise = judge.items_of(name), LESSON.exercise(name)
        return [earned_share(exercise, items, judge.observe(items, judge.reference.local_text(text))) for text in texts]

    return with_judge(LESSON, grade, only=name)
