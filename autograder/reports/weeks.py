"""Counts a class's mistakes week by week, and suggests points for the next lecture.

Only counters are kept, as in `statistics`. A team's shared hand-in counts once. A hand-in belongs to the week in which
it arrived, or else in which its lesson was due; if neither is known, the lesson takes the place of the week.
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
"""Minimum number of hand-ins with a misconception for a lecture to mention it."""
SHARE = 0.1
"""Minimum share: of the hand-ins that tried an exercise, to mention a misconception; and of the largest week's
hand-ins, to be the latest week."""
KNOWN = 0.9
"""Minimum share of passes among tries for a lecture to skip an exercise."""
MOST_KNOWN = 6

Where = tuple[str, str]
"""A lesson and an exercise."""


@dataclass(order=True)
class Week:
    """Counts of one week, or of one lesson without times."""

    begins: date
    """Its Monday; `date.min` if no time is known."""
    lesson: str = ""
    hand_ins: int = field(default=0, compare=False)
    lessons: Counter[str] = field(default_factory=Counter, compare=False)
    tried: Counter[Where] = field(default_factory=Counter, compare=False)
    passed: Counter[Where] = field(default_factory=Counter, compare=False)
    named: Counter[Where] = field(default_factory=Counter, compare=False)
    """Tries with a named misconception."""
    misconceptions: Counter[tuple[str, str, str]] = field(default_factory=Counter, compare=False)

    @property
    def title(self) -> str:
        """Heading of its row."""
        return self.lesson or f"{self.begins.day} {self.begins:%b %Y}"


@dataclass(frozen=True)
class Mistake:
    """A misconception in one week."""

    lesson: str
    exercise: str
    says: str
    having: int
    tried: int


@dataclass(frozen=True)
class Point:
    """A point for the next lecture."""

    lesson: str
    exercise: str
    count: int
    tried: int
    says: str
    """The misconception; empty if many are stuck without a common one."""
    comes_down_to: str
    """The exercise's idea in a sentence or two."""
    section: str
    """The command that opens its section."""


class ClassWeeks:
    """The weeks of a class; `add` each student once."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._weeks: dict[tuple[date, str], Week] = {}
        self._says: dict[tuple[str, str, str], str] = {}

    @property
    def weeks(self) -> list[Week]:
        """In chronological order."""
        return sorted(self._weeks.values())

    @property
    def has_dates(self) -> bool:
        """Whether any entry is a real week."""
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
        """The most common misconceptions of a week."""
        return [
            Mistake(lesson, name, self._says[lesson, name, mistake], count, week.tried[lesson, name])
            for (lesson, name, mistake), count in sorted(week.misconceptions.items(), key=lambda one: (-one[1], one[0]))
        ][:most]

    @property
    def latest(self) -> Week | None:
        """The last week with enough hand-ins; a few late ones do not make a week."""
        weeks = self.weeks
        most = max((week.hand_ins for week in weeks), default=0)
        return next((week for week in reversed(weeks) if week.hand_ins >= SHARE * most), None)

    def points(self) -> list[Point]:
        """Points for the next lecture: common misconceptions, and exercises where many are stuck without one."""
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
        """Exercises of the latest week that a lecture can skip."""
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
        """Monday of the week in which a hand-in arrived or was due; None if neither is known."""
        when = moment_of(at) or self._rules.of(slug).due
        if when is None:
            return None
        day = (when.astimezone(self._rules.zone) if when.tzinfo else when).date()
        return day - timedelta(days=day.weekday())
