"""Statistics of a class, kept as counters, so that memory does not grow with the class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from autograder.classroom.student_names import UNKNOWN
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.reports.class_results import StudentWork, is_work, lesson_of

NOT_STUCK = ("passed", "missing")
"""Statuses of exercises that are done or not begun; with any other, the learner has tried and not passed."""


@dataclass
class ExerciseStatistics:
    """One exercise across a class."""

    name: str
    tier: str
    statuses: Counter[str] = field(default_factory=Counter)
    misconceptions: Counter[str] = field(default_factory=Counter)

    @property
    def students(self) -> int:
        return self.statuses.total()

    @property
    def stuck(self) -> int:
        return sum(count for status, count in self.statuses.items() if status not in NOT_STUCK)

    @property
    def pass_rate(self) -> float:
        """Share of students who passed, among those who worked on the lesson."""
        return self.statuses["passed"] / self.students if self.students else 0.0


@dataclass
class LessonStatistics:
    """One lesson across a class."""

    slug: str
    title: str
    exercises: dict[str, ExerciseStatistics]
    max_points: float = 0.0
    points: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    graders: Counter[str] = field(default_factory=Counter)
    """Grader versions of its results; each lesson has its own version."""
    untouched: int = 0
    """Hand-ins without work, excluded from means and rates."""
    excused: int = 0
    """Excused students, excluded from all counts."""

    @property
    def submissions(self) -> int:
        return self.statuses.total()

    @property
    def worked(self) -> int:
        """The submissions with work in them."""
        return self.submissions - self.untouched


class ClassStatistics:
    """The counters of a class; `add` each student once. `due`: lessons that count for a student's share."""

    def __init__(self, lessons: tuple[str, ...], due: tuple[str, ...]) -> None:
        self.lessons = {slug: _lesson(slug) for slug in lessons}
        self.due = due
        self.students = 0
        self.percent: Counter[int] = Counter()
        """Students by their share of the points due, in whole percent, without those excused from all."""
        self.uncounted: Counter[str] = Counter()
        """Uncounted hand-ins by status."""
        self.isolations: Counter[str] = Counter()
        self.salts: Counter[str] = Counter()
        self.says: dict[tuple[str, str, str], str] = {}
        """The text of each misconception (lesson, exercise, name)."""

    @property
    def max_points(self) -> float:
        """Points that the due lessons are worth."""
        return sum(self.lessons[slug].max_points for slug in self.due)

    @property
    def mixed(self) -> list[LessonStatistics]:
        """Lessons with results of several grader versions."""
        return [lesson for lesson in self.lessons.values() if len(lesson.graders) > 1]

    @property
    def statuses(self) -> Counter[str]:
        return sum((lesson.statuses for lesson in self.lessons.values()), Counter())

    @property
    def median(self) -> int:
        """The median student's share of the points in percent, the lower of two."""
        reached = 0
        for percent in sorted(self.percent):
            reached += self.percent[percent]
            if 2 * reached >= self.percent.total():
                return percent
        return 0

    def add(self, work: StudentWork) -> None:
        for result in work.handed_in:
            self._add_submission(result)
        for slug in work.excused:
            self.lessons[slug].excused += 1
        self.uncounted.update(row.status for row in work.uncounted)
        if work.student != UNKNOWN:  # its files are in no student's folder
            self.students += 1
            share = self.share(work)
            if share is not None:
                self.percent[share] += 1

    def share(self, work: StudentWork) -> int | None:
        """A student's share of the points due, in whole percent; None if excused from all lessons."""
        free = work.excused & {*self.due}
        if free and free == {*self.due}:
            return None
        worth = self.max_points - sum(self.lessons[slug].max_points for slug in free)
        have, worth = work.total or (work.points(self.due), worth)
        return int(100 * min(1.0, have / worth)) if worth else 0

    def common_mistakes(self, most: int) -> list[tuple[int, LessonStatistics, ExerciseStatistics, str]]:
        """The most common misconceptions: number of learners, lesson, exercise and text."""
        found = [
            (count, lesson, exercise, self.says[lesson.slug, exercise.name, name])
            for lesson in self.lessons.values()
            for exercise in lesson.exercises.values()
            for name, count in exercise.misconceptions.items()
        ]
        return sorted(found, key=lambda entry: -entry[0])[:most]

    def _add_submission(self, result: SubmissionResult) -> None:
        lesson = self.lessons[result.lesson]
        lesson.statuses[result.status] += 1
        lesson.points += result.points
        lesson.max_points = max(lesson.max_points, result.max_points)
        lesson.graders[result.grader_version] += 1
        self.isolations[result.isolation] += 1
        self.salts[result.salt_sha256] += 1
        if not is_work(result):
            lesson.untouched += 1
            return
        for graded in result.exercises:
            exercise = lesson.exercises.setdefault(graded.name, ExerciseStatistics(graded.name, ""))
            exercise.statuses[graded.status] += 1
            if graded.misconception:
                exercise.misconceptions[graded.misconception] += 1
                self.says.setdefault((result.lesson, graded.name, graded.misconception), said(graded))


def said(exercise: ExerciseResult) -> str:
    """The text of the named misconception, the first line of the message."""
    return exercise.message.partition("\n")[0]


def stuck_on(result: SubmissionResult) -> list[ExerciseResult]:
    """The exercises that were tried and not passed; none if excused."""
    if result.status == EXCUSED:
        return []
    return [exercise for exercise in result.exercises if exercise.status not in NOT_STUCK]


def _lesson(slug: str) -> LessonStatistics:
    lesson = lesson_of(slug)
    if lesson is None:
        return LessonStatistics(slug, slug, {})
    exercises = {exercise.name: ExerciseStatistics(exercise.name, exercise.tier) for exercise in lesson.exercises}
    return LessonStatistics(slug, lesson.title, exercises, max_points=lesson.points)
