"""Gradescope's results.json, one file per student.

Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from autograder.classroom.class_record import GONE
from autograder.judging.records.results import CheckResult, ExerciseResult, SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.reports.class_results import StudentWork, lesson_of, was_handed_in
from autograder.reports.formats import Order, Report, write_text
from autograder.reports.safety import LONGEST, file_stem, printable
from autograder.wording import clean, counted, points_in_words, printable_json


class GradescopeReport(Report):
    """`gradescope/results.json` for one student, `gradescope/<student>.json` for each of several."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._folder = order.out / "gradescope"
        self._alone = len(order.classroom.students) == 1
        self._written = 0

    def add(self, work: StudentWork) -> None:
        """Write a student's file. Without hand-ins there is none, because Gradescope has no submission to score."""
        if not any(map(was_handed_in, work.results)) and all(row.status == GONE for row in work.uncounted):
            return
        name = "results" if self._alone else file_stem(work.student)
        results = gradescope(work, self.order.hidden_checks, self.order.classroom.due)
        write_text(self.file("gradescope", f"{name}.json"), printable_json(results, indent=1))
        self._written += 1

    def finish(self) -> list[str]:
        if self._alone:
            return [f"gradescope: {self._folder / 'results.json'}"]
        return [f"gradescope: {counted(self._written, 'file')} in {self._folder}"]


def gradescope(work: StudentWork, hidden_checks: str, due: Container[str]) -> dict[str, Any]:
    """A student's results in Gradescope's format; the score counts the lessons in `due`.

    Each exercise is a test with points and a message. Its checks follow as tests without points: Gradescope hides the
    total from students while any test with points is hidden from them.
    """
    tests = [test for place, result in enumerate(work.results, 1) for test in _submission(place, result, hidden_checks)]
    tests += [
        _test(f"{place}", f"{row.file}: {row.status}", False, row.message)
        for place, row in enumerate(work.uncounted, len(work.results) + 1)
    ]
    return {
        "score": round(work.points(due), 2),
        "execution_time": round(sum(graded.seconds for result in work.results for graded in result.exercises), 3),
        "output": "\n".join([*map(_headline, work.results), *map(_not_counted, work.uncounted)]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _submission(place: int, result: SubmissionResult, hidden_checks: str) -> list[dict[str, Any]]:
    if result.status == EXCUSED:
        return [_test(f"{place}", _title(result), True, f"{EXCUSED}: {result.message}")]
    if not result.exercises:
        outcome = _test(f"{place}", _title(result), False, f"{result.status}: {result.message}")
        return [{**outcome, "score": 0.0, "max_score": result.max_points}]
    tests = []
    for number, graded in enumerate(result.exercises, 1):
        tests.append(_exercise(f"{place}.{number}", graded))
        tests += [
            _check(f"{place}.{number}.{i}", graded, check, hidden_checks) for i, check in enumerate(graded.checks, 1)
        ]
    return tests


def _exercise(number: str, graded: ExerciseResult) -> dict[str, Any]:
    hint = [f"Hint: {graded.hint}"] if graded.hint else []
    test = _test(number, graded.name, graded.status == "passed", "\n\n".join([graded.message, *hint]).strip())
    return {**test, "score": graded.points, "max_score": graded.max_points, "tags": [clean(graded.status)]}


def _check(number: str, graded: ExerciseResult, check: CheckResult, hidden_checks: str) -> dict[str, Any]:
    kind = "" if check.visible else " (hidden input)"
    test = _test(number, f"{graded.name}: {check.name}{kind}", check.passed, check.message)
    return {**test, "tags": [clean(check.promise)], "visibility": "visible" if check.visible else hidden_checks}


def _test(number: str, name: str, passed: bool, output: str) -> dict[str, Any]:
    return {
        "number": number,
        "name": clean(name, LONGEST),
        "status": "passed" if passed else "failed",
        "output": printable(output),
        "output_format": "text",
        "visibility": "visible",
    }


def _headline(result: SubmissionResult) -> str:
    if result.status == EXCUSED:
        return clean(f"{_title(result)}: {EXCUSED} {result.message}".rstrip(), LONGEST)
    points = points_in_words(result.points, result.max_points)
    story = f" ({result.status}: {result.message})" if result.status != "graded" else f" {result.message}".rstrip()
    bytes_graded = f" [{result.file}, sha256 {result.sha256 or 'unknown'}, {result.isolation}]"
    return clean(f"{_title(result)}: {points}{story}{bytes_graded * was_handed_in(result)}", LONGEST)


def _not_counted(row: SubmissionResult) -> str:
    return clean(f"{row.status}: {row.message}", LONGEST)


def _title(result: SubmissionResult) -> str:
    lesson = lesson_of(result.lesson)
    return f"{result.lesson}: {lesson.title}" if lesson else result.lesson
