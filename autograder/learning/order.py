"""Which exercise comes next, and how long it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from autograder.learning.progress import Progress
from course.syllabus import Exercise, Lesson

ROUNDED_TO = 5
"""Minutes: nobody's time is known more closely."""


def short_name(exercise: Exercise) -> str:
    """An exercise as one types it: `ch06/relu_vjp`."""
    return f"{exercise.lesson.partition('_')[0]}/{exercise.name}"


def next_exercise(
    progress: Progress,
    lessons: Mapping[str, Lesson],
    *,
    after: Exercise | None = None,
    present: Collection[str] = (),
) -> Exercise | None:
    """The exercise to do next; None if all pass.

    The one that was tried last comes first, as long as it does not pass. Then the core exercises: the others of the
    lesson that the learner is in, those of the lessons after it, and what was left out before. When all of them pass,
    the stretch exercises follow in the same way.

    Args:
        after: the exercise that was just done; the one that was tried last if not given.
        present: the lessons that the learner has a file of, which come before the others; all if empty.
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
    """A reader's time for an exercise and its section: its share, by points, of the lesson's minutes."""
    return max(round(lesson.minutes * exercise.points / lesson.points / ROUNDED_TO), 1) * ROUNDED_TO


def _last_tried(progress: Progress, lessons: Mapping[str, Lesson]) -> Exercise | None:
    known = [(tried, one) for lesson in lessons.values() for one in lesson.exercises if (tried := progress.of(one))]
    return max(known, key=lambda pair: datetime.fromisoformat(pair[0].tried))[1] if known else None


def _in_order(lessons: Mapping[str, Lesson], after: Exercise | None) -> list[Exercise]:
    """All exercises, as one meets them after `after`: those of its lesson, then on to the end, then the beginning."""
    all_of_them = [one for lesson in lessons.values() for one in lesson.exercises]
    if after not in all_of_them:
        return all_of_them
    start = all_of_them.index(after) + 1
    rest = [*all_of_them[start:], *all_of_them[:start]]
    return sorted(rest, key=lambda one: one.lesson != after.lesson)
