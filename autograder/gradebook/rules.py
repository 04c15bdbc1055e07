"""Reads the rules of a class: due dates, weights and penalties for being late.

title = "Deep learning, spring"
timezone = "Europe/Berlin"
late_days = 3                       # free ones, for each student, over all lessons
penalty = 10                        # percent of the earned points, for each day after those
most_days = 7                       # later than that: nothing

[lessons.ch06]
due = 2027-03-01T23:59:00
weight = 20                         # of the total; without weights, points add up
exercises = "core"                  # or a list of names; all count if left out
column = "Homework 6 (123456)"      # its column in the platform's gradebook

[[extension]]
student = "ada@example.edu"         # the name in reports, or any id of the roster
lesson = "ch06"
days = 3                            # or until = 2027-03-05T12:00:00

[[handed_in]]                       # if the platform does not say when
student = "ada@example.edu"
lesson = "ch06"
at = 2027-03-02T08:00:00
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from autograder.gradebook.table_file import (
    TableError,
    lesson_called,
    moment,
    number,
    read_toml,
    refuse_unknown,
    tables,
    text,
)
from autograder.gradebook.zones import machine_zone
from course.syllabus import Lesson

RULES = "rules.toml"
"""File name in a folder of results."""
KEYS = ("title", "timezone", "late_days", "penalty", "most_days", "lessons", "extension", "handed_in")
OF_A_LESSON = ("due", "weight", "exercises", "column", "penalty", "most_days")
TIERS = ("core", "stretch", "all")


@dataclass(frozen=True)
class LessonRules:
    """The rules of one lesson."""

    slug: str
    due: datetime | None = None
    weight: float | None = None
    exercises: frozenset[str] | None = None
    """The exercises that count; None for all."""
    column: str = ""
    penalty: float = 0.0
    most_days: float | None = None


@dataclass(frozen=True)
class Said:
    """A teacher's statement about a student's hand-in: an extension, or when it arrived."""

    student: str
    lesson: str
    until: datetime | None = None
    days: float = 0.0
    where: str = ""


@dataclass(frozen=True)
class Rules:
    """The contents of the file; without one, all lessons that anybody handed in count, and nothing is late."""

    lessons: dict[str, LessonRules] = field(default_factory=dict)
    title: str = ""
    late_days: float = 0.0
    extensions: tuple[Said, ...] = ()
    handed_in: tuple[Said, ...] = ()
    zone: tzinfo = UTC
    remarks: tuple[str, ...] = ()
    """A line for each setting without effect or taken from the machine."""

    def of(self, slug: str) -> LessonRules:
        return self.lessons.get(slug, LessonRules(slug))

    @property
    def weighted(self) -> bool:
        """Whether totals are sums of weights instead of points."""
        return any(lesson.weight is not None for lesson in self.lessons.values())


def read_rules(file: Path) -> Rules:
    """The rules in a file.

    Raises:
        TableError: the file has an error.
    """
    data = read_toml(file)
    refuse_unknown(data, KEYS, str(file))
    zone, remarks = _zone(data, file)
    penalty = number(data, "penalty", str(file), most=100)
    most_days = number(data, "most_days", str(file)) if "most_days" in data else None
    listed = data.get("lessons", {})
    if not isinstance(listed, dict) or not all(isinstance(one, dict) for one in listed.values()):
        raise TableError(f"{file}: write lessons as [lessons.ch06], a table each")
    lessons: dict[str, LessonRules] = {}
    for name, table in listed.items():
        lesson = lesson_called(name, f"{file}: lessons.{name}")
        if lesson.slug in lessons:
            raise TableError(f"{file}: lessons.{name}: {lesson.slug} has two tables")
        lessons[lesson.slug] = _of_lesson(lesson, table, f"{file}: lessons.{name}", zone, penalty, most_days)
    weights = [lesson.weight for lesson in lessons.values()]
    if any(weight is None for weight in weights) and any(weight is not None for weight in weights):
        without = next(slug for slug, lesson in lessons.items() if lesson.weight is None)
        raise TableError(f"{file}: lessons.{without} has no weight and others have one; give all or none")
    extensions = tuple(_said(one, where, "until", zone) for one, where in tables(data, "extension", file))
    handed_in = tuple(_said(one, where, "at", zone) for one, where in tables(data, "handed_in", file))
    late = [
        (f"{file}: lessons.{name}: its {key}", lesson_called(name, name).slug)
        for name, table in listed.items()
        for key in ("penalty", "most_days")
        if key in table
    ]
    about_time = [*((one.where, one.lesson) for one in (*extensions, *handed_in)), *late]
    undue = tuple(
        f"{where} changes nothing: {slug} has no due date; write due = … under [lessons.{slug.partition('_')[0]}]"
        for where, slug in about_time
        if slug not in lessons or lessons[slug].due is None
    )
    return Rules(
        lessons,
        text(data, "title", str(file), ""),
        number(data, "late_days", str(file)),
        extensions,
        handed_in,
        zone,
        (*remarks, *undue),
    )


def _zone(data: dict[str, Any], file: Path) -> tuple[tzinfo, tuple[str, ...]]:
    """The class's time zone, and a remark if the file has times but no zone."""
    name = text(data, "timezone", str(file), "")
    if not name:
        zone, called = machine_zone()
        if not _has_times(data):
            return zone, ()
        return zone, (
            f"{file}: there is no timezone, so its times are this machine's, {called}; write timezone = "
            f'"{called if "/" in called else "Europe/Berlin"}", or whichever is the class\'s, at its top',
        )
    try:
        return ZoneInfo(name), ()
    except (KeyError, ValueError, OSError):
        raise TableError(f"{file}: there is no timezone {name!r}; one is called as Europe/Berlin") from None


def _has_times(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_times, value.values() if isinstance(value, dict) else value))
    return isinstance(value, date)  # includes datetime


def _of_lesson(
    lesson: Lesson, table: dict[str, Any], where: str, zone: tzinfo, penalty: float, most_days: float | None
) -> LessonRules:
    refuse_unknown(table, OF_A_LESSON, where)
    return LessonRules(
        lesson.slug,
        moment(table, "due", where, zone),
        number(table, "weight", where) if "weight" in table else None,
        _exercises(lesson, table.get("exercises", "all"), where),
        text(table, "column", where, ""),
        number(table, "penalty", where, penalty, most=100),
        number(table, "most_days", where) if "most_days" in table else most_days,
    )


def _exercises(lesson: Lesson, said: object, where: str) -> frozenset[str] | None:
    if said == "all":
        return None
    if said in TIERS:
        return frozenset(one.name for one in lesson.exercises if one.tier == said)
    names = {one.name for one in lesson.exercises}
    if not isinstance(said, list) or not said or not all(isinstance(one, str) for one in said):
        raise TableError(f'{where}: exercises must be "core", "stretch", "all" or a list of names')
    for name in said:
        if name not in names:
            raise TableError(f"{where}: {lesson.slug} has no exercise {name!r}")
    return frozenset(said)


def _said(table: dict[str, Any], where: str, when: str, zone: tzinfo) -> Said:
    refuse_unknown(table, ("student", "lesson", when, "days"), where)
    until, days = moment(table, when, where, zone), number(table, "days", where)
    if until is None and "days" not in table:
        raise TableError(f"{where}: say {when} or days")
    return Said(text(table, "student", where), lesson_called(table.get("lesson"), where).slug, until, days, where)


def days_late(at: datetime, due: datetime) -> float:
    """Days after the due date, rounded up, on the clock of its zone; 0 if in time.

    A day with a clock change counts as one day: 25 hours after the due date may be one day late.
    """
    if at.astimezone(UTC) <= due.astimezone(UTC):
        return 0.0
    over = at.astimezone(due.tzinfo).replace(tzinfo=None) - due.replace(tzinfo=None)
    return max(1.0, float(-(-over // timedelta(days=1))))
