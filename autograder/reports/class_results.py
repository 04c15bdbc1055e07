"""The results of a class, one student at a time: thousands of them need no more memory than one."""

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
from autograder.wording import counted
from course.syllabus import Lesson, syllabus

REPORTS = "__reports__"
"""Where reports go unless told otherwise: beside the students' folders, under a name that none of them can have."""
MOST_PROBLEMS = 20
"""Files listed that are no results; the others are counted."""


@dataclass(frozen=True, eq=False)
class StudentWork:
    """All results of one student, in the order of the syllabus."""

    student: str
    results: tuple[SubmissionResult, ...]
    uncounted: tuple[SubmissionResult, ...] = ()
    """What was handed in and has no result that counts: files that are no lesson's, results whose files are gone."""
    person: Person | None = None
    """Who that is, by the class's roster."""
    total: tuple[float, float] | None = None
    """What they have of what counts and what there is, where the class's rules say how that adds up."""
    names: tuple[str, ...] = ()
    """What the platforms call them in the hand-ins."""
    original: dict[str, float] = field(default_factory=dict)
    """The grader's points, by lesson, where others count."""
    came: dict[str, HandedIn] = field(default_factory=dict)
    """When what counts was handed in, by lesson, as far as a platform says it."""
    counted_at: dict[str, HandedIn] = field(default_factory=dict)
    """The same, for counting alone: of those without a name, too."""
    earlier: dict[str, list[Attempt]] = field(default_factory=dict)
    """The attempts before it, by lesson, the first one first."""
    shared: frozenset[str] = frozenset()
    """The lessons whose one hand-in came with another member of the team before: works are counted once."""

    @property
    def handed_in(self) -> Iterator[SubmissionResult]:
        """The results of what was handed in, each of one work: a team's with the first of its members."""
        return (one for one in self.results if was_handed_in(one) and one.lesson not in self.shared)

    def points(self, due: Container[str]) -> float:
        """Of the lessons that count."""
        return sum(result.points for result in self.results if result.lesson in due)

    @property
    def excused(self) -> frozenset[str]:
        """The lessons that the student need not hand in."""
        return frozenset(result.lesson for result in self.results if result.status == EXCUSED)


class ClassResults:
    """What lies in a folder of results. Iterating reads it; `problems` then says which files are none.

    `only` keeps one student; the lessons are those of the whole class all the same. `due`: the lessons that count for
    shares and totals; those for which someone handed in work if it is empty. With `people`, each is a student, also who
    handed in nothing; `rules` and `overrides` say what counts. `anonymous`: without names.
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
        """What the course calls itself that they are of; empty where that is not known."""
        self._handed_in = record.handed_in
        self._not_recognised: dict[str, list[SubmissionResult]] = {}
        for row in record.not_recognised:
            self._not_recognised.setdefault(row.student, []).append(unrecognised_result(row))
        self._earlier: dict[tuple[str, str], list[Attempt]] = {}
        for one in record.earlier:
            self._earlier.setdefault((one.student, one.lesson), []).append(Attempt(one.at, one.file))
        self.says_when = not anonymous and any(handed_in.at for handed_in in record.times.values())
        """Whether a platform says when something was handed in."""
        self._slugs: dict[str, list[str]] = {}
        for student, slug in places(folder):
            self._slugs.setdefault(student, []).append(slug)
        names = sorted({*self._slugs, *self._not_recognised})
        self.people = People(people or [], names)
        told = [replace(one, comment="") for one in overrides] if anonymous else overrides  # comments name people
        self._book = Book(self.people, self.rules, told, record.times)
        self._excuses = Excuses(self.rules, people or [])
        chosen = self.people.students if only is None else self._meant(only)
        self._students = chosen
        self._labels = dict(zip(chosen, labels(len(chosen)), strict=True)) if anonymous else {}
        if anonymous:
            self._students = sorted(chosen, key=self._labels.__getitem__)
        self.students = [self._labels.get(student, student.shown) for student in self._students]
        due = due or tuple(self.rules.lessons)
        found = {slug for name in names for slug in self._slugs.get(name, []) if self._counts(name, slug)}
        self.lessons = tuple(sorted({*found, *due}, key=place))
        """The lessons that someone handed in, and those that were due, by slug."""
        self.said_due = bool(due)
        """Whether someone said what was due."""
        decided = {override.lesson for override in overrides}
        self.due = due and tuple(slug for slug in self.lessons if slug in due)
        worked = () if due else (slug for slug in self.lessons if slug in decided or self._worked_on(names, slug))
        self.due = self.due or tuple(worked) or self.lessons
        """The lessons that count."""
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
                yield self._without_a_name(student, work) if self._labels else work

    def _attempts_before(self, results: list[SubmissionResult]) -> dict[str, list[Attempt]]:
        """What was handed in before these results' files."""
        found: dict[str, list[Attempt]] = {}
        for one in results:
            kept = list(replaced(self.folder, one.student, one.lesson, sha256=one.sha256))
            there = {(attempt.at, PurePath(attempt.file).name) for attempt in kept}
            beside = self._earlier.get((one.student, one.lesson), [])
            listed = [attempt for attempt in beside if (attempt.at, PurePath(attempt.file).name) not in there]
            found.setdefault(one.lesson, []).extend((*listed, *kept))
        return {lesson: sorted(attempts, key=lambda one: (one.at, one.file)) for lesson, attempts in found.items()}

    def _without_a_name(self, student: Student, work: StudentWork) -> StudentWork:
        label = self._labels[student]
        results, rows = (tuple(unnamed(one, label) for one in found) for found in (work.results, work.uncounted))
        return replace(work, student=label, results=results, uncounted=rows, person=None, names=(), came={}, earlier={})

    @property
    def has_roster(self) -> bool:
        """Whether a roster says more of students than their names, and may."""
        return not self._labels and any(one.person for one in self._students)

    @property
    def changes_points(self) -> bool:
        """Whether rules or a teacher may have changed what the grader gave."""
        return bool(self.rules.lessons) or self._book.decides

    def worth(self, slug: str) -> float:
        """What a lesson is worth, in points."""
        lesson = lesson_of(slug)
        if lesson is None:
            return 0.0
        counting = self.rules.of(slug).exercises
        return sum(one.points for one in lesson.exercises if counting is None or one.name in counting)

    def total(self, work: StudentWork) -> tuple[float, float]:
        """What a student has of the lessons that count, and what there is: points, or weights where there are any."""
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

    def _meant(self, only: str) -> list[Student]:
        """Who is asked for: `__reports__` has another folder, and macOS writes ü as two characters."""
        students = self.people.students
        exact = [one for one in students if only == one.shown or only in one.own]
        alike = {unicodedata.normalize("NFC", only), as_folder(only)}
        similar = [one for one in students if unicodedata.normalize("NFC", one.shown) in alike]
        return exact or similar or (self.people.called(only) if any(one.person for one in students) else [])

    @property
    def problems(self) -> list[str]:
        """A line for each file that is no result, as far as it has been read."""
        more = (
            [f"and {counted(self._more, 'more file is no result', 'more files are no results')}"] if self._more else []
        )
        return [*self._problems, *more]

    def _counts(self, student: str, lesson: str) -> bool:
        """Whether what a result is of is still there."""
        return (student, lesson) in self._handed_in

    def _worked_on(self, names: Iterable[str], slug: str) -> bool:
        """Whether anybody handed in more than the notebook as it was handed out: one reading says so, as a rule."""
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
    """Whether there is a hand-in that was graded and counts; a teacher may give points without one."""
    return result.status != EXCUSED and (result.status != "graded" or bool(result.file or result.grader_version))


def is_work(result: SubmissionResult) -> bool:
    """Whether there is work in what was handed in: in a notebook as it was handed out, no exercise is written.

    What could not be read, or ended too late, may have held work; what a teacher gave points for did.
    """
    if result.status not in ("graded", EXCUSED):
        return True
    return result.points > 0 or any(one.status != "missing" for one in result.exercises)


def lesson_of(slug: str) -> Lesson | None:
    """The lesson, if the course still has it: results may be older than the syllabus."""
    return syllabus().get(slug)


def place(slug: str) -> tuple[int, str]:
    """What sorts lessons as the syllabus does, and those that it no longer has after them."""
    known = list(syllabus())
    return (known.index(slug) if slug in known else len(known), slug)
