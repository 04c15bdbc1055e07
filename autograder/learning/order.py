"""Which exercise comes next, how long it takes, and where its chapter teaches it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.learning.progress import Progress
from autograder.places import Places
from course.syllabus import Exercise, Lesson

ROUNDED_TO = 5
"""Minutes: nobody's time is known more closely."""


@dataclass(frozen=True)
class Section:
    """Where an exercise is taught."""

    title: str
    """The section's heading; empty where there is no book."""
    place: str
    """The page and the label in it, for a link in the folder that was asked for."""


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


def section(exercise: Exercise, folder: Path) -> Section:
    """The section of the chapter that teaches an exercise, with a link that leads there from `folder`."""
    from autograder.workbook import chapter

    file = chapter(exercise.lesson, folder) or f"{exercise.lesson}.html"
    return Section(_heading(exercise), f"{file}#{exercise.anchor}")


def _heading(exercise: Exercise) -> str:
    try:
        text = Places().chapter(exercise.lesson).read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(rf"^\({re.escape(exercise.anchor)}\)=\n(?:\(.+\)=\n)*#+ +(.+)$", text, re.MULTILINE)
    return found[1].replace("`", "") if found else ""


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
