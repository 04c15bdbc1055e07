"""`python -P -m autograder.authoring.promises` prints the table of SECURITY.md: what each lesson's points depend on."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from autograder.collection import with_judge
from autograder.judging.checking.plugin import identify
from autograder.judging.records.withheld import OUTCOMES
from autograder.judging.scoring import shares_of
from autograder.judging.session import Judge
from course.syllabus import Exercise, Lesson, syllabus

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


def promised(lesson: Lesson) -> Promised:
    """The points of a lesson by kind of check. `CheckError` if the checks cannot be collected."""
    return with_judge(lesson, lambda judge: sum((_of_exercise(judge, e) for e in lesson.exercises), Promised()))


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


def table() -> str:
    """The table in Markdown: a row for each lesson, and a row of totals."""
    rows = {slug.partition("_")[0]: promised(lesson) for slug, lesson in syllabus().items()}
    rows["all"] = sum(rows.values(), Promised())
    return "\n".join([HEAD, *(_row(name, row) for name, row in rows.items())])


def _row(name: str, row: Promised) -> str:
    numbers = (row.points, row.hidden, row.visible, row.instrumented, row.technique)
    return f"| {name} | {' | '.join(f'{number:.1f}' for number in numbers)} | {row.bits:.0f} |"


if __name__ == "__main__":
    print(table())
