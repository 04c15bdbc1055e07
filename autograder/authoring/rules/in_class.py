"""Rules 1 to 3 in a class: stubs, references and misconceptions graded as `backprop grade` does.

That means confined workers, prefetched calls, and visible and hidden inputs, with two new salts. Stubs and references
are graded with both. Each exercise has a sample of its misconceptions graded with one salt, because each salt needs new
comparisons on hidden inputs; `judged.checks_tell_right_from_wrong` tests all misconceptions.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator, Sequence
from typing import Self

from autograder.authoring.mistaken import mistaken_cells, solved_cells
from autograder.authoring.rules.judged import line, on_each_lesson
from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course
from autograder.diagnosis import Misconception
from autograder.isolation import IsolationError, Workers
from autograder.judging.explaining.known_mistakes import SeenOfMistakes
from autograder.judging.session import Judge
from autograder.places import file_of
from autograder.submission import Submission, read_submission
from course.syllabus import Exercise, Lesson

SALTS = 2
DRAWN = 4
"""How many misconceptions of each exercise are graded."""


def a_class_is_graded_rightly(course: Course, seen: SeenOfMistakes | None = None) -> list[Problem]:
    """Rules 1 to 3: stubs earn nothing, references everything, misconceptions less than that, and they are named.

    Args:
        seen: shares what is seen of known mistakes with other rules about the same lesson.
    """
    seen = {} if seen is None else seen
    problems: list[Problem] = []
    first = secrets.randbelow(SALTS)
    with _Shared() as shared:
        for turn, salt in enumerate(secrets.token_hex(8) for _ in range(SALTS)):

            def rule(judge: Judge, salt: str = salt, turn: int = turn) -> list[Problem]:
                workers = shared.of(judge.lesson)
                found = [*_of_stub(course, judge, workers), *_of_reference(course, judge, workers)]
                exercises = judge.lesson.exercises[(first + turn) % SALTS :: SALTS]
                return found or list(_of_misconceptions(course, judge, workers, _sample(judge, exercises, salt), salt))

            found = on_each_lesson(course, rule, salt=salt, seen=seen)
            problems += [problem for problem in found if problem not in problems]  # most do not depend on the salt
    return problems


class _Shared:
    """The workers of each lesson, kept for all salts: each judge sends them its own prefetched calls."""

    def __enter__(self) -> Self:
        self._started: dict[str, Workers] = {}
        return self

    def of(self, lesson: Lesson) -> Workers:
        if lesson.slug not in self._started:
            self._started[lesson.slug] = _workers(lesson)
        return self._started[lesson.slug]

    def __exit__(self, *_: object) -> None:
        for workers in self._started.values():
            workers.stop()


def _of_stub(course: Course, judge: Judge, workers: Workers) -> Iterator[Problem]:
    """The notebook that learners get earns exactly 0 in every exercise, and no check passes.

    Checks may pass in an exercise with a `technique`: a program handed out for repair may return right values, which
    earn nothing without the technique.
    """
    stub = read_submission(course.notebook(judge.lesson.slug))
    checks = course.checks(judge.lesson.slug)
    for exercise in judge.grade(stub, workers, of_many=True).exercises:
        passed = [check.name for check in exercise.checks if check.passed]
        if exercise.points or (passed and not judge.lesson.exercise(exercise.name).technique):
            what = f"the untouched stub of {exercise.name} earns {exercise.points:g} points by {', '.join(passed)}"
            file = course.relative(file_of(checks, exercise.name))
            yield Problem(file, what, "check something that no one gets right without work")


def _of_reference(course: Course, judge: Judge, workers: Workers) -> Iterator[Problem]:
    """The solved lesson earns all points with the packages and modules that the syllabus gives it."""
    result = judge.grade(_submission(solved_cells(course, judge.lesson.slug)), workers, of_many=True)
    file = course.relative(course.source(judge.lesson.slug))
    if result.status != "graded":
        yield Problem(file, f"solved, it cannot be graded: {line(result.message)}", "mend the source")
    for exercise in result.exercises:
        if exercise.points != exercise.max_points:
            what = f"solved, {exercise.name} earns {exercise.points:g} of {exercise.max_points:g}"
            do = f"mend the reference or the check, or list what it needs in {course.relative(course.syllabus)}"
            yield Problem(file, f"{what}: {line(exercise.message)}", do)


def _of_misconceptions(
    course: Course, judge: Judge, workers: Workers, mistakes: list[Misconception], salt: str
) -> Iterator[Problem]:
    """A solved lesson with one mistake loses points, and the diagnosis names the mistake."""
    register = course.mistakes(judge.lesson.slug)
    solved = solved_cells(course, judge.lesson.slug)
    for mistake in mistakes:
        path = file_of(register, mistake.exercise)
        cells = mistaken_cells(solved, [mistake], register)
        result = judge.grade(_submission(cells), workers, only=[mistake.exercise], of_many=True)
        what = f"{mistake.exercise}: {mistake.name}, in a class with the salt {salt}"
        if (
            result.status != "graded" or " raised " in result.message
        ):  # a mistaken cell that raises would leave the solution in place
            yield Problem(course.relative(path), f"{what}, cannot be graded: {line(result.message)}", "mend it")
            continue
        (exercise,) = result.exercises
        if exercise.points == exercise.max_points:
            yield Problem(course.relative(path), f"the checks accept {what}", "add the case that it gets wrong")
        elif mistake.name not in exercise.misconceptions:
            do = "make it differ from the others on some input"
            yield Problem(course.relative(path), f"the diagnosis does not name {what}", do)


def _sample(judge: Judge, exercises: Sequence[Exercise], salt: str) -> list[Misconception]:
    """A sample of each exercise's misconceptions, determined by the salt."""
    draw, found = random.Random(salt), []
    for exercise in exercises:
        of_it = [known for known in judge.mistakes.known if known.exercise == exercise.name]
        found += draw.sample(of_it, min(DRAWN, len(of_it)))
    return found


def _submission(sources: list[str]) -> Submission:
    return Submission.of_cells("submission.ipynb", sources)


def _workers(lesson: Lesson) -> Workers:
    """Start the workers of a lesson: in the sandbox, or as plain processes if this machine has no sandbox."""
    workers = Workers(lesson, "sandbox")
    try:
        workers.start()
    except IsolationError:
        workers.stop()
        workers = Workers(lesson, "process")
        workers.start()
    return workers
