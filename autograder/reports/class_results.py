"""The results of a class, one student at a time: thousands of them need no more memory than one."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.class_record import ClassRecord, gone_result, unrecognised_result
from autograder.classroom.results_folder import places, read_result, result_file
from autograder.classroom.student_names import as_folder
from autograder.judging.records.results import SubmissionResult
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

    def points(self, due: Container[str]) -> float:
        """Of the lessons that count."""
        return sum(result.points for result in self.results if result.lesson in due)


class ClassResults:
    """What lies in a folder of results. Iterating reads it; `problems` then says which files are none.

    `only` keeps one student; the lessons are those of the whole class all the same. `due`: the lessons that count for
    shares and totals; those that someone handed in if it is empty.
    """

    def __init__(self, folder: Path, only: str | None = None, due: tuple[str, ...] = ()) -> None:
        self.folder = folder
        record = ClassRecord(folder)
        self._handed_in = record.handed_in
        self._not_recognised: dict[str, list[SubmissionResult]] = {}
        for row in record.not_recognised:
            self._not_recognised.setdefault(row.student, []).append(unrecognised_result(row))
        self._slugs: dict[str, list[str]] = {}
        for student, slug in places(folder):
            self._slugs.setdefault(student, []).append(slug)
        everyone = sorted({*self._slugs, *self._not_recognised})
        self.students = [name for name in everyone if only in (None, name)]
        if only is not None and not self.students:  # macOS writes ü as two characters, and nobody sees that
            alike = {unicodedata.normalize("NFC", only), as_folder(only)}  # `__reports__` has another folder
            self.students = [name for name in everyone if unicodedata.normalize("NFC", name) in alike]
        found = {slug for name in everyone for slug in self._slugs.get(name, []) if self._counts(name, slug)}
        self.lessons = tuple(sorted({*found, *due}, key=place))
        """The lessons that someone handed in, and those that were due, by slug."""
        self.said_due = bool(due)
        """Whether someone said what was due."""
        self.due = tuple(slug for slug in self.lessons if slug in due or not due)
        """The lessons that count."""
        self._problems = [record.problem] if record.problem else []
        self._more = 0

    def __iter__(self) -> Iterator[StudentWork]:
        for student in self.students:
            results = list(self._results(student))
            gone = [gone_result(one) for one in results if not self._counts(student, one.lesson)]
            counted = [one for one in results if self._counts(student, one.lesson)]
            uncounted = [*self._not_recognised.get(student, []), *gone]
            if counted or uncounted:
                yield StudentWork(student, tuple(counted), tuple(uncounted))

    @property
    def problems(self) -> list[str]:
        """A line for each file that is no result, as far as it has been read."""
        more = [f"and {self._more} more files are no results"] if self._more else []
        return [*self._problems, *more]

    def _counts(self, student: str, lesson: str) -> bool:
        """Whether what a result is of is still there."""
        return (student, lesson) in self._handed_in

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


def lesson_of(slug: str) -> Lesson | None:
    """The lesson, if the course still has it: results may be older than the syllabus."""
    return syllabus().get(slug)


def place(slug: str) -> tuple[int, str]:
    """What sorts lessons as the syllabus does, and those that it no longer has after them."""
    known = list(syllabus())
    return (known.index(slug) if slug in known else len(known), slug)
