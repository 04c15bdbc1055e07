"""Applies the rules and the teacher's overrides to one student's results, with an explanation of each change.

The results themselves stay unchanged: reports show copies, whose messages give the earlier points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from autograder.classroom.class_record import HandedIn
from autograder.gradebook.overrides import Override
from autograder.gradebook.people import People, Student
from autograder.gradebook.rules import LessonRules, Rules, Said, days_late
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.moments import moment_of
from autograder.wording import counted, in_points
from course.syllabus import syllabus

NOT_WHILE_EXCUSED = "What a teacher gave for it does not count while that is so."
UNDATED = "Late, says the platform, and not by how much: no penalty."
"""Students read this, so it leaves out what the teacher can do; a report's own line names that."""


@dataclass(frozen=True)
class Standing:
    """The results of a student that count."""

    results: tuple[SubmissionResult, ...]
    original: dict[str, float] = field(default_factory=dict)
    """By lesson with changed points: the grader's points."""
    came: dict[str, HandedIn] = field(default_factory=dict)
    """By lesson: when the result that counts was handed in, as far as platforms say so."""
    of: dict[str, str] = field(default_factory=dict)
    """By lesson: the name of the hand-in that counts, which may be a teammate's."""


class Book:
    """The rules, overrides and times of a class, looked up by student."""

    def __init__(
        self,
        people: People,
        rules: Rules,
        overrides: Iterable[Override],
        handed_in: dict[tuple[str, str], HandedIn],
    ) -> None:
        self.rules = rules
        self.problems: list[str] = [*rules.remarks]
        self._handed_in = handed_in
        self._came: dict[tuple[Student, str], HandedIn] = {}
        """When the hand-ins that count arrived, for the students seen so far."""
        self._of: dict[tuple[Student, str], str] = {}
        """The names of those hand-ins."""
        self.undated: dict[str, dict[str, None]] = defaultdict(dict)
        """By lesson: the students who were late by an unknown time and so escape a penalty, of those seen so far."""
        self._shown = {name: student.shown for student in people.students for name in student.own}
        self._overrides: dict[Student, list[Override]] = defaultdict(list)
        self._more_time: dict[Student, list[Said]] = defaultdict(list)
        self._times: dict[Student, list[Said]] = defaultdict(list)
        for override in overrides:
            for student in self._find_student(people, override.student, override.where):
                self._overrides[student].append(override)
        for said, into in ((rules.extensions, self._more_time), (rules.handed_in, self._times)):
            for one in said:
                for student in self._find_student(people, one.student, one.where):
                    into[student].append(one)

    def _find_student(self, people: People, name: str, where: str) -> list[Student]:
        """The one student with this name; if there is none or several, report a problem and return none."""
        meant = people.called(name)
        if len(meant) == 1:
            return meant
        who = "nobody is" if not meant else counted(len(meant), "student is", "students are")
        self.problems.append(f"{where}: {who} called {name!r}; it holds for nobody")
        return []

    @property
    def decides(self) -> bool:
        """Whether there are any overrides for students."""
        return any(self._overrides.values())

    def standing(
        self, student: Student, results: Sequence[SubmissionResult], excused: Mapping[str, str] | None = None
    ) -> Standing:
        """The results that count, of the student's own and the team's, all under the student's name.

        `excused`: lessons from which the student is excused, each with the reason.
        """
        chosen = self._one_per_lesson(student, results)
        of = {result.lesson: self._of.get((student, result.lesson), "") for result in chosen}
        original = {result.lesson: result.points for result in chosen}
        decided = {override.lesson for override in self._overrides[student]}
        free = [
            _excused(student.shown, slug, f"{why} {NOT_WHILE_EXCUSED if slug in decided else ''}".strip(), chosen)
            for slug, why in (excused or {}).items()
        ]
        chosen = [result for result in chosen if result.lesson not in (excused or {})]
        chosen = [self._without_uncounted(self._override_exercises(student, result)) for result in chosen]
        chosen = [self._override_lesson(student, result) for result in self._apply_lateness(student, chosen)]
        chosen = _in_syllabus_order([*chosen, *free])
        changed = {
            one.lesson: original[one.lesson]
            for one in chosen
            if one.lesson in original and original[one.lesson] != one.points
        }
        came = {one.lesson: self._came.get((student, one.lesson), HandedIn()) for one in chosen}
        return Standing(tuple(chosen), changed, {lesson: at for lesson, at in came.items() if at != HandedIn()}, of)

    def _one_per_lesson(self, student: Student, results: Sequence[SubmissionResult]) -> list[SubmissionResult]:
        """One result per lesson: the student's own before the team's, and of several the best."""
        by_lesson: dict[str, list[SubmissionResult]] = defaultdict(list)
        for result in results:
            by_lesson[result.lesson].append(result)
        kept = []
        for lesson, found in by_lesson.items():
            own = [result for result in found if result.student in student.own]
            best = max(own or found, key=lambda one: one.points)
            said = []
            if not own:
                by = self._shown.get(best.student, best.student)
                team = student.person.team if student.person else ""
                called = team if team.lower().startswith("team") else f"the team {team}"
                said.append(f"Handed in by {by} for {called}." if by != team else f"Handed in by {called}.")
            said += [
                f"{other.student} handed it in, too, with {in_points(other.points)} points; the better one counts."
                for other in (own or found)
                if other is not best
            ]
            self._came[student, lesson] = self._handed_in.get((best.student, lesson), HandedIn())
            self._of[student, lesson] = best.student
            kept.append(_with_message(replace(best, student=student.shown), *said))
        listed = {one.lesson for one in kept}
        for override in self._overrides[student]:
            if override.lesson not in listed:
                listed.add(override.lesson)
                kept.append(_not_handed_in(student.shown, override.lesson))
        return _in_syllabus_order(kept)

    def _override_lesson(self, student: Student, result: SubmissionResult) -> SubmissionResult:
        """Apply overrides of a whole lesson, which no later rule reduces."""
        for override in self._overrides[student]:
            if override.lesson == result.lesson and not override.exercise:
                why = f": {override.comment}" if override.comment else ""
                given = f"A teacher gave {in_points(override.points)} of {in_points(result.max_points)} points"
                said = f"{given}, not {in_points(result.points)}{why}."
                result = _with_message(replace(result, points=override.points), said)
        return result

    def _override_exercises(self, student: Student, result: SubmissionResult) -> SubmissionResult:
        """Apply overrides of single exercises, before the rules on exercises and lateness."""
        for override in self._overrides[student]:
            if override.lesson != result.lesson or not override.exercise:
                continue
            why = f": {override.comment}" if override.comment else ""
            before = next((one for one in result.exercises if one.name == override.exercise), None)
            was = before.points if before else 0.0
            said = (
                f"{override.exercise}: a teacher gave {in_points(override.points)} points, not {in_points(was)}{why}."
            )
            exercises = [
                _overridden(one, override, said) if one.name == override.exercise else one for one in result.exercises
            ]
            if before is None:
                worth = syllabus()[result.lesson].exercise(override.exercise)
                empty = ExerciseResult(worth.name, 0.0, worth.points, "missing", "", None, "", 0.0)
                exercises.append(_overridden(empty, override, said))
            result = replace(result, exercises=exercises, points=result.points - was + override.points)
            result = _with_message(result, said)
        return result

    def _without_uncounted(self, result: SubmissionResult) -> SubmissionResult:
        """Remove the points of exercises that do not count."""
        counting = self.rules.of(result.lesson).exercises
        if counting is None:
            return result
        out = [one for one in result.exercises if one.name not in counting]
        exercises = [
            one if one.name in counting else replace(one, points=0.0, max_points=0.0) for one in result.exercises
        ]
        worth = sum(one.points for one in syllabus()[result.lesson].exercises if one.name in counting)
        points = min(result.points - sum(one.points for one in out), worth)
        said = f"{len(counting)} of {counted(len(syllabus()[result.lesson].exercises), 'exercise')} count here."
        return _with_message(replace(result, exercises=exercises, points=points, max_points=worth), said)

    def _apply_lateness(self, student: Student, results: list[SubmissionResult]) -> list[SubmissionResult]:
        """Spend late days in the order of due dates, then apply penalties."""
        left = self.rules.late_days
        kept: dict[str, SubmissionResult] = {}
        ordered = sorted(results, key=lambda one: _moment(self.rules.of(one.lesson).due))
        for result in ordered:
            kept[result.lesson], left = self._penalised(student, result, left)
        return [kept[result.lesson] for result in results]

    def _penalised(self, student: Student, result: SubmissionResult, left: float) -> tuple[SubmissionResult, float]:
        lesson = self.rules.of(result.lesson)
        found = self._came.get((student, result.lesson), HandedIn())
        due, more = self._due(student, lesson)
        if due is None:
            return result, left
        at = self._handed_in_at(student, result.lesson, found, lesson.due or due)
        if at is None:
            if found.late and not more:
                if lesson.penalty or lesson.most_days is not None:
                    self.undated[result.lesson][student.shown] = None
                return _with_message(result, UNDATED), left
            return result, left
        late = days_late(at, due)
        if not late:
            return (_with_message(result, more) if more and at > (lesson.due or due) else result), left
        spent = min(left, late)
        costly = late - spent
        parts = [f"{_days(late)} late ({_in_one_zone(at, due)})", more.rstrip(".").lower()]
        parts.append(f"{_days(spent)} of {_days(left)} taken from late days" if spent else "")
        if lesson.most_days is not None and costly > lesson.most_days:
            share, cost = 1.0, f"after {_days(lesson.most_days)} nothing counts"
        else:
            share = min(1.0, costly * lesson.penalty / 100)
            cost = f"{share:.0%} off" if share else ""
        points = round(result.points * (1 - share), 6)
        parts.append(f"{cost}: {in_points(result.points)} → {in_points(points)} points" if cost else "no penalty")
        said = "; ".join(filter(None, parts)) + "."
        return _with_message(replace(result, points=points), said), left - spent

    def _due(self, student: Student, lesson: LessonRules) -> tuple[datetime | None, str]:
        """The student's due date, and a sentence on an extension."""
        due, said = lesson.due, ""
        if due is None:
            return None, ""
        for one in self._more_time[student]:
            if one.lesson == lesson.slug:
                due = max(due, one.until or due, lesson.due + timedelta(days=one.days) if lesson.due else due)
                said = f"Extended to {due:%d %b %H:%M}."
        return due, said

    def _handed_in_at(self, student: Student, lesson: str, found: HandedIn, due: datetime) -> datetime | None:
        """When it was handed in; a teacher's count of days starts at the class's due date, not the extended one."""
        for one in self._times[student]:
            if one.lesson == lesson:
                return one.until or due + timedelta(days=one.days)
        at = moment_of(found.at)
        return at.replace(tzinfo=self.rules.zone) if at and at.tzinfo is None else at


def _moment(due: datetime | None) -> float:
    return due.timestamp() if due else 0.0


def _in_one_zone(at: datetime, due: datetime) -> str:
    """Two times in one zone, with seconds if their minutes agree."""
    at = at.astimezone(due.tzinfo)
    form = "%d %b %H:%M" if f"{at:%d %b %H:%M}" != f"{due:%d %b %H:%M}" else "%d %b %H:%M:%S"
    return f"{at:{form}}, due {due:{form}}"


def _with_message(result: SubmissionResult, *said: str) -> SubmissionResult:
    return replace(result, message=" ".join(part for part in (result.message, *said) if part))


def _overridden(exercise: ExerciseResult, override: Override, said: str) -> ExerciseResult:
    message = "\n".join(part for part in (said, exercise.message) if part)
    full = override.points >= exercise.max_points
    status = "passed" if full else "partial" if override.points else exercise.status
    return replace(exercise, points=override.points, message=message, status=status)


def _excused(student: str, slug: str, why: str, chosen: Iterable[SubmissionResult]) -> SubmissionResult:
    """A row for a lesson from which the student is excused; if something was handed in, its feedback without points."""
    found = next((result for result in chosen if result.lesson == slug), None)
    if found is None or not (found.file or found.grader_version):
        return SubmissionResult(student, slug, "", "", "", "", 0.0, 0.0, EXCUSED, why)
    exercises = [replace(one, points=0.0, max_points=0.0) for one in found.exercises]
    points = f"{in_points(found.points)}/{in_points(found.max_points)}"
    said = f"{why} The {points} of what was handed in do not count."
    free = replace(found, points=0.0, max_points=0.0, exercises=exercises, status=EXCUSED, message="")
    return _with_message(free, said, found.message)


def _in_syllabus_order(results: list[SubmissionResult]) -> list[SubmissionResult]:
    """Sort by the syllabus."""
    order = list(syllabus())
    return sorted(results, key=lambda one: order.index(one.lesson) if one.lesson in order else len(order))


def _not_handed_in(student: str, slug: str) -> SubmissionResult:
    """A result for a lesson that was not handed in, but has an override."""
    lesson = syllabus()[slug]
    return SubmissionResult(student, slug, "", "", "", "", 0.0, lesson.points, "graded", "Not handed in.")


def _days(number: float) -> str:
    return counted(number, "day")
