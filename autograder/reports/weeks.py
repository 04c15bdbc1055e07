"""What a class got wrong week by week, and what to say of it in the next lecture. Counters only, as in `statistics`.
What is counted are works: a team's one hand-in is one, however many members it has.

A hand-in is of the week in which it came, where the platform says so; else of the week in which its lesson was due.
Where neither is known, of its lesson: lessons follow one another, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta

from autograder.gradebook.rules import Rules
from autograder.learning.solutions import in_a_line
from autograder.moments import moment_of
from autograder.reports.class_results import StudentWork, is_work, lesson_of
from autograder.reports.statistics import NOT_STUCK, said
from autograder.sections import read_command

MISTAKES_A_WEEK = 3
POINTS_TO_MAKE = 3
FEW = 2
"""Works that have a misconception before it is worth a lecture's time."""
SHARE = 0.1
"""Of those who tried an exercise, likewise; and of a class, who make a week one of its own."""
KNOWN = 0.9
"""Of those who tried an exercise, who pass it where a lecture can leave it out."""
MOST_KNOWN = 6

Where = tuple[str, str]
"""A lesson and an exercise."""


@dataclass(order=True)
class Week:
    """What came in one week, or of one lesson where no time is known."""

    begins: date
    """The Monday; the first day there is where no time is known."""
    lesson: str = ""
    hand_ins: int = field(default=0, compare=False)
    lessons: Counter[str] = field(default_factory=Counter, compare=False)
    tried: Counter[Where] = field(default_factory=Counter, compare=False)
    passed: Counter[Where] = field(default_factory=Counter, compare=False)
    named: Counter[Where] = field(default_factory=Counter, compare=False)
    """Those who are told what is wrong."""
    misconceptions: Counter[tuple[str, str, str]] = field(default_factory=Counter, compare=False)

    @property
    def title(self) -> str:
        """What a row is called."""
        return self.lesson or f"{self.begins.day} {self.begins:%b %Y}"


@dataclass(frozen=True)
class Mistake:
    """A misconception of a week."""

    lesson: str
    exercise: str
    says: str
    having: int
    tried: int


@dataclass(frozen=True)
class Point:
    """Something to say in the next lecture."""

    lesson: str
    exercise: str
    count: int
    tried: int
    says: str
    """The misconception; empty where those who are stuck are so for reasons of their own."""
    comes_down_to: str
    """The exercise's idea in a sentence or two."""
    section: str
    """How to open the section that teaches it."""


class ClassWeeks:
    """The weeks of a class; `add` each student once."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._weeks: dict[tuple[date, str], Week] = {}
        self._says: dict[tuple[str, str, str], str] = {}

    @property
    def weeks(self) -> list[Week]:
        """The first one first."""
        return sorted(self._weeks.values())

    @property
    def has_dates(self) -> bool:
        """Whether any of them is a week."""
        return any(not week.lesson for week in self._weeks.values())

    def add(self, work: StudentWork) -> None:
        """Count a student's results."""
        for result in work.handed_in:
            if not result.exercises or not is_work(result):
                continue
            came = work.counted_at.get(result.lesson)
            begins = self._monday(result.lesson, came.at if came else "")
            key = (begins or date.min, "" if begins else result.lesson)
            week = self._weeks.setdefault(key, Week(*key))
            week.hand_ins += 1
            week.lessons[result.lesson] += 1
            for graded in result.exercises:
                where = result.lesson, graded.name
                if graded.status == "missing":
                    continue
                week.tried[where] += 1
                week.passed[where] += graded.status == "passed"
                if graded.misconception and graded.status not in NOT_STUCK:
                    week.named[where] += 1
                    week.misconceptions[*where, graded.misconception] += 1
                    self._says.setdefault((*where, graded.misconception), said(graded))

    def mistakes(self, week: Week, most: int = MISTAKES_A_WEEK) -> list[Mistake]:
        """The misconceptions that most have in a week."""
        return [
            Mistake(lesson, name, self._says[lesson, name, mistake], count, week.tried[lesson, name])
            for (lesson, name, mistake), count in sorted(week.misconceptions.items(), key=lambda one: (-one[1], one[0]))
        ][:most]

    @property
    def latest(self) -> Week | None:
        """The last week in which more than a few handed in: who is late makes no week of their own."""
        weeks = self.weeks
        most = max((week.hand_ins for week in weeks), default=0)
        return next((week for week in reversed(weeks) if week.hand_ins >= SHARE * most), None)

    def points(self) -> list[Point]:
        """What to say in the next lecture: what goes wrong for many, and where many are stuck for no common reason."""
        week = self.latest
        if week is None:
            return []
        found = [
            self._point(one.lesson, one.exercise, one.having, one.tried, one.says)
            for one in self.mistakes(week, len(week.misconceptions))
            if one.having >= max(FEW, SHARE * one.tried)
        ]
        explained = {(one.lesson, one.exercise) for one in found}
        for where, tried in week.tried.items():
            unnamed = tried - week.passed[where] - week.named[where]
            if where not in explained and unnamed >= max(FEW, SHARE * tried):
                found.append(self._point(*where, unnamed, tried, ""))
        return sorted(found, key=lambda one: (-one.count, not one.says))[:POINTS_TO_MAKE]

    def known(self) -> list[str]:
        """The exercises of the latest week that a lecture can leave out."""
        week = self.latest
        if week is None:
            return []
        return [
            name
            for (lesson, name), tried in week.tried.items()
            if tried >= FEW and week.passed[lesson, name] >= KNOWN * tried
        ]

    def _point(self, slug: str, name: str, count: int, tried: int, says: str) -> Point:
        lesson = lesson_of(slug)
        exercise = next((one for one in lesson.exercises if one.name == name), None) if lesson else None
        idea, section = (in_a_line(exercise), read_command(slug, exercise.anchor)) if exercise else ("", "")
        return Point(slug, name, count, tried, says, idea, section)

    def _monday(self, slug: str, at: str) -> date | None:
        """The Monday of the week that a hand-in is of; None if nobody says when it came or was due."""
        when = moment_of(at) or self._rules.of(slug).due
        if when is None:
            return None
        day = (when.astimezone(self._rules.zone) if when.tzinfo else when).date()
        return day - timedelta(days=day.weekday())
