"""The results of a class, one student at a time: thousands of them need no more memory than one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.results_folder import read_result
from autograder.judging.results import SubmissionResult
from course.syllabus import Lesson, syllabus

OURS = (".", "__")
"""How names begin that no student's folder has: `grade` passes such folders over."""
REPORTS = "__reports__"
"""Where reports go unless told otherwise: beside the students' folders, under a name that none of them can have."""
MOST_PROBLEMS = 20
"""Files listed that are no results; the others are counted."""


@dataclass(frozen=True, eq=False)
class StudentWork:
    """All results of one student, in the order of the syllabus."""

    student: str
    results: tuple[SubmissionResult, ...]

    @property
    def points(self) -> float:
        return sum(result.points for result in self.results)

    @property
    def max_points(self) -> float:
        """What the lessons that were handed in are worth."""
        return sum(result.max_points for result in self.results)


class ClassResults:
    """What lies in a folder of results. Iterating reads it; `problems` then says which files are none.

    `only` keeps one student; the lessons are those of the whole class all the same.
    """

    def __init__(self, folder: Path, only: str | None = None) -> None:
        self.folder = folder
        everyone = sorted(_folders(folder))
        self.students = [name for name in everyone if only in (None, name)]
        found = {file[:-5] for name in everyone for file in _files(folder / name)}
        self.lessons = tuple(sorted(found, key=place))
        """The lessons that someone handed in, by slug."""
        self._problems: list[str] = []
        self._more = 0

    def __iter__(self) -> Iterator[StudentWork]:
        for student in self.students:
            results = tuple(self._results(student))
            if results:
                yield StudentWork(student, results)

    @property
    def problems(self) -> list[str]:
        """A line for each file that is no result, as far as it has been read."""
        more = [f"and {self._more} more files are no results"] if self._more else []
        return [*self._problems, *more]

    def _results(self, student: str) -> Iterator[SubmissionResult]:
        for name in sorted(_files(self.folder / student), key=lambda name: place(name[:-5])):
            result = read_result(self.folder / student / name)
            if result is None:
                self._problem(f"{self.folder / student / name} is not a result; grade the class again to replace it")
            elif (result.student, f"{result.lesson}.json") != (student, name):
                self._problem(f"{self.folder / student / name} is the result of other work; grade the class again")
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


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(OURS) and entry.is_dir()]
    except OSError:
        return []


def _files(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".json") and not name.startswith(".")]
    except OSError:
        return []
