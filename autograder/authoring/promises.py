"""The table of SECURITY.md, which `backprop build` writes: what each lesson's points depend on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from pathlib import Path

from autograder.authoring.tree import AuthoringError, Course
from autograder.collection import with_judge
from autograder.judging.checking.plugin import identify
from autograder.judging.records.withheld import OUTCOMES
from autograder.judging.scoring import shares_of
from autograder.judging.session import Judge
from course.syllabus import Exercise, Lesson

TITLE = "## Instrumented points, lesson by lesson\n\n"
TABLE = re.compile(r"(?:\|.*\n)+")
HEAD = """\
| lesson | points | by value, hidden | by value, visible | instrumented | behind an instrumented technique | bits |
| --- | --- | --- | --- | --- | --- | --- |"""


@dataclass(frozen=True)
class Promised:
    """Points of an exercise, a lesson or the course, by the kind of check that gives them."""

    hidden: float = 0.0
    """For values on inputs drawn with the class's salt."""
    visible: float = 0.0
    """For values on inputs that everybody knows."""
    instrumented: float = 0.0
    """For what our code measures in the submission's process, on either kind of input."""
    technique: float = 0.0
    """Points of exercises that earn nothing if an instrumented check of their technique fails."""
    bits: float = 0.0
    """At most how many bits the feedback on one attempt tells about hidden inputs: the outcome of each hidden check,
    and the mistake named for each exercise."""

    @property
    def points(self) -> float:
        return self.hidden + self.visible + self.instrumented

    def __add__(self, other: Promised) -> Promised:
        sums = (mine + its for mine, its in zip(vars(self).values(), vars(other).values(), strict=True))
        return Promised(*sums)


def promised(lesson: Lesson, root: Path | None = None) -> Promised:
    """The points of a lesson by kind of check. `CheckError` if the checks cannot be collected."""

    def of_lesson(judge: Judge) -> Promised:
        return sum((_of_exercise(judge, e) for e in lesson.exercises), Promised())

    return with_judge(lesson, of_lesson, root=root)


def _of_exercise(judge: Judge, exercise: Exercise) -> Promised:
    checks = [check for item in judge.items_of(exercise.name) if (check := identify(item)) is not None]
    measured = any(check.name in exercise.technique and check.promise == "instrumented" for check in checks)
    found = Promised(technique=exercise.points if measured else 0.0)
    named = sum(known.exercise == exercise.name for known in judge.mistakes.known)
    found += Promised(bits=sum(not check.visible for check in checks) * log2(1 + len(OUTCOMES)) + log2(1 + named))
    for check, share in zip(checks, shares_of(exercise, checks), strict=True):
        kind = "instrumented" if check.promise == "instrumented" else "visible" if check.visible else "hidden"
        found += Promised(**{kind: exercise.points * share})
    return found


def table(lessons: Mapping[str, Lesson], root: Path | None = None) -> str:
    """The table in Markdown: a row for each lesson of the course in `root`, and a row of totals."""
    rows = {slug: promised(lesson, root) for slug, lesson in lessons.items()}
    total = sum(rows.values(), Promised())
    return "\n".join([HEAD, *(row_of(slug, row) for slug, row in rows.items()), row_of("all", total)])


def row_of(slug: str, row: Promised) -> str:
    """The line of the table for a lesson."""
    numbers = (row.points, row.hidden, row.visible, row.instrumented, row.technique)
    return f"| {slug.partition('_')[0]} | {' | '.join(f'{number:.1f}' for number in numbers)} | {row.bits:.0f} |"


def generated(course: Course) -> dict[Path, str]:
    """SECURITY.md with a current table; nothing if the course is another one or has no such file.

    Raises:
        AuthoringError: the table is not there.
        CheckError, PackageMissing: the checks of a lesson cannot be collected.
    """
    file = file_of(course)
    if file is None:
        return {}
    before, title, after = file.read_text(encoding="utf-8").partition(TITLE)
    old = TABLE.match(after)
    if not old:
        raise AuthoringError(f"{file.name}: there is no table below {TITLE.strip()!r}")
    return {file: f"{before}{title}{table(course.lessons, course.root)}\n{after[old.end() :]}"}


def file_of(course: Course) -> Path | None:
    """The course's SECURITY.md; None if the course is another one or has no such file."""
    file = course.root / "SECURITY.md"
    return file if file.is_file() and not course.is_own else None
