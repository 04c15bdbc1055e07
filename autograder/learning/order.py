"""Chooses the next exercise, and estimates how long it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from autograder.learning.progress import Progress
from course.syllabus import Exercise, Lesson
from course.times import own_minutes

ROUNDED_TO = 5
"""Minutes; estimates are no more precise than that."""


def short_name(exercise: Exercise) -> str:
    """The name of an exercise as learners type it: `ch06/relu_vjp`."""
    return f"{exercise.lesson.partition('_')[0]}/{exercise.name}"


def next_exercise(
    progress: Progress,
    lessons: Mapping[str, Lesson],
    *,
    after: Exercise | None = None,
    present: Collection[str] = (),
) -> Exercise | None:
    """The exercise to do next; None if all pass.

    The exercise tried last comes first, if it does not pass. Then the core exercises: those of the same lesson, those
    of later lessons, and those skipped before. When all core exercises pass, the stretch exercises follow in the same
    order.

    Args:
        after: the exercise that was just done; if not given, the one tried last.
        present: the lessons that the learner has files of, which come before the others; all if empty.
    """
    if after is None:
        after = _last_tried(progress, lessons)
        if after is not None and not progress.passes(after):
            return after
    left = [one for one in _in_order(lessons, after) if one != after and not progress.passes(one)]
    left.sort(key=lambda one: (one.tier != "core", bool(present) and one.lesson not in present))
    return left[0] if left else None


def optional(progress: Progress, lesson: Lesson) -> list[Exercise]:
    """The stretch exercises of a lesson that do not pass yet."""
    return [one for one in lesson.exercises if one.tier == "stretch" and not progress.passes(one)]


def about_minutes(exercise: Exercise, lesson: Lesson) -> int:
    """Estimated minutes for an exercise and its section.

    Of our lessons they are those of `course/times.py`; of others the exercise's share, by points, of the lesson's.
    """
    section = lesson.times.sections.get(exercise.anchor) if lesson.times else None
    if section is None:
        minutes = lesson.minutes * exercise.points / lesson.points
    else:
        minutes = section + own_minutes(exercise.points)
    return max(round(minutes / ROUNDED_TO), 1) * ROUNDED_TO


def _last_tried(progress: Progress, lessons: Mapping[str, Lesson]) -> Exercise | None:
    known = [(tried, one) for lesson in lessons.values() for one in lesson.exercises if (tried := progress.of(one))]
    return max(known, key=lambda pair: datetime.fromisoformat(pair[0].tried))[1] if known else None


def _in_order(lessons: Mapping[str, Lesson], after: Exercise | None) -> list[Exercise]:
    """All exercises, starting after `after`: its lesson's first, then those to the end, then those from the start."""
    all_of_them = [one for lesson in lessons.values() for one in lesson.exercises]
    if after not in all_of_them:
        return all_of_them
    start = all_of_them.index(after) + 1
    rest = [*all_of_them[start:], *all_of_them[:start]]
    return sorted(rest, key=lambda one: one.lesson != after.lesson)
