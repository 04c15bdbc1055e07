"""Reads the results of a class one student at a time, so that memory does not grow with the class."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from autograder.classroom.class_record import ClassRecord, HandedIn, gone_result, unrecognised_result
from autograder.classroom.earlier import Attempt, replaced
from autograder.classroom.results_folder import places, read_result, result_file
from autograder.classroom.student_names import as_folder
from autograder.gradebook.columns import Excuses
from autograder.gradebook.overrides import Override
from autograder.gradebook.people import People, Student
from autograder.gradebook.roster import Person
from autograder.gradebook.rules import Rules
from autograder.gradebook.standing import Book
from autograder.judging.records.results import SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.reports.anonymous import labels, unnamed
from autograder.wording import counted, some
from course.syllabus import Lesson, syllabus

REPORTS = "__reports__"
"""Default folder for reports, in the folder of results; not a possible student's name."""
UNDATED = "late, and no penalty, as no file says by how much; [[handed_in]] of the rules can say when"
MOST_NAMED = 15
"""At most this many of them are named; the remarks of `grades.csv` have all."""
MOST_PROBLEMS = 20
"""At most this many unreadable results are listed; the rest are counted."""


@dataclass(frozen=True, eq=False)
class StudentWork:
    """All results of one student, in the order of the syllabus."""

    student: str
    results: tuple[SubmissionResult, ...]
    uncounted: tuple[SubmissionResult, ...] = ()
    """Rows for hand-ins without a counting result: files that are not a lesson, results whose files were deleted."""
    person: Person | None = None
    """The student's entry on the roster."""
    total: tuple[float, float] | None = None
    """Points or weights earned and possible, if the class has rules for lessons."""
    names: tuple[str, ...] = ()
    """The student's names in hand-ins."""
    original: dict[str, float] = field(default_factory=dict)
    """By lesson with changed points: the grader's points."""
    came: dict[str, HandedIn] = field(default_factory=dict)
    """By lesson: when the result that counts was handed in, as far as platforms say so."""
    counted_at: dict[str, HandedIn] = field(default_factory=dict)
    """The same for statistics, also in anonymous reports."""
    earlier: dict[str, list[Attempt]] = field(default_factory=dict)
    """By lesson: earlier attempts, oldest first."""
    shared: frozenset[str] = frozenset()
    """Lessons whose hand-in was already counted with another member of the team."""

    @property
    def handed_in(self) -> Iterator[SubmissionResult]:
        """Results of hand-ins, a team's only with the first of its members."""
        return (one for one in self.results if was_handed_in(one) and one.lesson not in self.shared)

    def points(self, due: Container[str]) -> float:
        """Points in the lessons that count."""
        return sum(result.points for result in self.results if result.lesson in due)

    @property
    def excused(self) -> frozenset[str]:
        """Lessons from which the student is excused."""
        return frozenset(result.lesson for result in self.results if result.status == EXCUSED)


class ClassResults:
    """The results in a folder. Iterating reads them; afterwards `problems` lists unreadable ones.

    Args:
        only: name of the only student to read; `lessons` are still those of the whole class.
        due: lessons that count for shares and totals; by default those of the rules, or those with work in them.
        people: the roster; everyone on it is a student, even without hand-ins.
        rules, overrides: decide what counts.
        anonymous: replace names by labels.
    """

    def __init__(
        self,
        folder: Path,
        only: str | None = None,
        due: tuple[str, ...] = (),
        *,
        people: list[Person] | None = None,
        rules: Rules | None = None,
        overrides: Sequence[Override] = (),
        anonymous: bool = False,
    ) -> None:
        self.folder = folder
        self.anonymous = anonymous
        self.rules = rules or Rules()
        record = ClassRecord(folder)
        self.course = record.course
        """The title of the course of these results; empty if unknown."""
        self._handed_in = record.handed_in
        self._not_recognised: dict[str, list[SubmissionResult]] = {}
        for row in record.not_recognised:
            self._not_recognised.setdefault(row.student, []).append(unrecognised_result(row))
        self._earlier: dict[tuple[str, str], list[Attempt]] = {}
        for one in record.earlier:
            self._earlier.setdefault((one.student, one.lesson), []).append(Attempt(one.at, one.file))
        self.says_when = not anonymous and any(handed_in.at for handed_in in record.times.values())
        """Whether a platform gives the time of any hand-in."""
        self._slugs: dict[str, list[str]] = {}
        for student, slug in places(folder):
            self._slugs.setdefault(student, []).append(slug)
        names = sorted({*self._slugs, *self._not_recognised})
        self.people = People(people or [], names)
        told = [replace(one, comment="") for one in overrides] if anonymous else overrides  # comments may contain names
        self._book = Book(self.people, self.rules, told, record.times)
        self._excuses = Excuses(self.rules, people or [])
        chosen = self.people.students if only is None else self._find_students(only)
        self._students = chosen
        self._labels = dict(zip(chosen, labels(len(chosen)), strict=True)) if anonymous else {}
        if anonymous:
            self._students = sorted(chosen, key=self._labels.__getitem__)
        self.students = [self._labels.get(student, student.shown) for student in self._students]
        due = due or tuple(self.rules.lessons)
        found = {slug for name in names for slug in self._slugs.get(name, []) if self._counts(name, slug)}
        self.lessons = tuple(sorted({*found, *due}, key=place))
        """Slugs of the lessons that were handed in or due."""
        self.said_due = bool(due)
        """Whether due lessons were given."""
        decided = {override.lesson for override in overrides}
        self.due = due and tuple(slug for slug in self.lessons if slug in due)
        worked = () if due else (slug for slug in self.lessons if slug in decided or self._worked_on(names, slug))
        self.due = self.due or tuple(worked) or self.lessons
        """Slugs of the lessons that count."""
        damaged = [record.problem] if record.problem else []
        self._problems = [*damaged, *self.people.problems, *self._book.problems]
        self._more = 0

    def __iter__(self) -> Iterator[StudentWork]:
        seen: set[tuple[str, str]] = set()
        for student in self._students:
            names = [*student.own, *student.of_team]
            results = [result for name in names for result in self._results(name)]
            counting = [one for one in results if self._counts(one.student, one.lesson)]
            gone = [gone_result(one) for one in results if one not in counting and one.student in student.own]
            rows = [row for name in student.own for row in self._not_recognised.get(name, [])]
            uncounted = tuple(replace(row, student=student.shown) for row in (*rows, *gone))
            excused = {slug: why for slug, why in self._excuses.of(student.person).items() if slug in self.lessons}
            standing = self._book.standing(student, counting, excused)
            shared = frozenset(slug for slug, name in standing.of.items() if (name, slug) in seen)
            if student.person is not None and student.person.team:
                seen.update((name, slug) for slug, name in standing.of.items() if slug not in excused)
            if standing.results or uncounted or student.person is not None:
                work = StudentWork(
                    student.shown,
                    standing.results,
                    uncounted,
                    student.person,
                    names=tuple(student.own),
                    original=standing.original,
                    came=standing.came,
                    counted_at=standing.came,
                    earlier=self._attempts_before(counting),
                    shared=shared,
                )
                work = replace(work, total=self.total(work)) if self.rules.lessons else work
                yield self._anonymized(student, work) if self._labels else work

    def _attempts_before(self, results: list[SubmissionResult]) -> dict[str, list[Attempt]]:
        """Earlier attempts, by lesson."""
        found: dict[str, list[Attempt]] = {}
        for one in results:
            kept = list(replaced(self.folder, one.student, one.lesson, sha256=one.sha256))
            there = {(attempt.at, PurePath(attempt.file).name) for attempt in kept}
            beside = self._earlier.get((one.student, one.lesson), [])
            listed = [attempt for attempt in beside if (attempt.at, PurePath(attempt.file).name) not in there]
            found.setdefault(one.lesson, []).extend((*listed, *kept))
        return {lesson: sorted(attempts, key=lambda one: (one.at, one.file)) for lesson, attempts in found.items()}

    def _anonymized(self, student: Student, work: StudentWork) -> StudentWork:
        label = self._labels[student]
        results, rows = (tuple(unnamed(one, label) for one in found) for found in (work.results, work.uncounted))
        return replace(work, student=label, results=results, uncounted=rows, person=None, names=(), came={}, earlier={})

    @property
    def has_roster(self) -> bool:
        """Whether the roster's data on students may be reported."""
        return not self._labels and any(one.person for one in self._students)

    @property
    def changes_points(self) -> bool:
        """Whether rules or overrides may have changed the grader's points."""
        return bool(self.rules.lessons) or self._book.decides

    def worth(self, slug: str) -> float:
        """Points that a lesson is worth."""
        lesson = lesson_of(slug)
        if lesson is None:
            return 0.0
        counting = self.rules.of(slug).exercises
        return sum(one.points for one in lesson.exercises if counting is None or one.name in counting)

    def total(self, work: StudentWork) -> tuple[float, float]:
        """What a student earned in the lessons that count, and the maximum: in points, or in weights."""
        have = total = 0.0
        results = {result.lesson: result for result in work.results}
        for slug in self.due:
            result = results.get(slug)
            worth = result.max_points if result else self.worth(slug)
            weight = self.rules.of(slug).weight if self.rules.weighted else None
            scale = 1.0 if weight is None else weight / worth if worth else 0.0
            have += result.points * scale if result else 0.0
            total += worth * scale
        return round(have, 6), round(total, 6)

    def _find_students(self, only: str) -> list[Student]:
        """The students with this name, first exactly, then in Unicode's NFC or as a folder, then by the roster."""
        students = self.people.students
        exact = [one for one in students if only == one.shown or only in one.own]
        alike = {unicodedata.normalize("NFC", only), as_folder(only)}
        similar = [one for one in students if unicodedata.normalize("NFC", one.shown) in alike]
        return exact or similar or (self.people.called(only) if any(one.person for one in students) else [])

    @property
    def problems(self) -> list[str]:
        """A line for each unreadable result found so far, and for other problems."""
        more = (
            [f"and {counted(self._more, 'more file is no result', 'more files are no results')}"] if self._more else []
        )
        return [*self._problems, *more, *self._undated()]

    def _undated(self) -> Iterator[str]:
        """A line for each lesson that students read so far handed in late by an unknown time, without a penalty."""
        for slug, names in self._book.undated.items():
            who = counted(len(names), "student") if self.anonymous else some([*names], MOST_NAMED)
            yield f"{slug}: {UNDATED}: {who}"

    def _counts(self, student: str, lesson: str) -> bool:
        """Whether the file of a result still exists."""
        return (student, lesson) in self._handed_in

    def _worked_on(self, names: Iterable[str], slug: str) -> bool:
        """Whether anybody's hand-in contains work; usually the first result read decides."""
        handed_in = (name for name in names if self._counts(name, slug) and slug in self._slugs.get(name, []))
        found = (read_result(result_file(self.folder, name, slug)) for name in handed_in)
        return any(result is None or is_work(result) for result in found)

    def _results(self, student: str) -> Iterator[SubmissionResult]:
        for slug in sorted(self._slugs.get(student, []), key=place):
            file = result_file(self.folder, student, slug)
            result = read_result(file)
            if result is None:
                self._problem(f"{file} is not a result; grade the class again to replace it")
            elif (result.student, result.lesson) != (student, slug):
                self._problem(f"{file} is the result of other work; grade the class again")
            else:
                yield result

    def _problem(self, line: str) -> None:
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(line)
        else:
            self._more += 1


def was_handed_in(result: SubmissionResult) -> bool:
    """Whether there is a graded hand-in that counts; overrides can give points without one."""
    return result.status != EXCUSED and (result.status != "graded" or bool(result.file or result.grader_version))


def is_work(result: SubmissionResult) -> bool:
    """Whether a hand-in contains work, unlike a notebook as handed out.

    An unreadable or killed hand-in counts as work, as does one with points from a teacher.
    """
    if result.status not in ("graded", EXCUSED):
        return True
    return result.points > 0 or any(one.status != "missing" for one in result.exercises)


def lesson_of(slug: str) -> Lesson | None:
    """The lesson; None if the syllabus no longer has it."""
    return syllabus().get(slug)


def place(slug: str) -> tuple[int, str]:
    """Sort key for lessons: the syllabus's order, then lessons that it no longer has."""
    known = list(syllabus())
    return (known.index(slug) if slug in known else len(known), slug)
