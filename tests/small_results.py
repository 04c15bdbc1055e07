"""Results of a class as the grader writes them, for tests of gradebooks."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.class_record import ClassRecord, HandedIn
from autograder.classroom.results_folder import result_file
from autograder.judging.records.results import ExerciseResult, SubmissionResult, write_json
from course.syllabus import find_lesson

SLUG = "ch06_vjps"

LESSON = find_lesson(SLUG)
WORTH = LESSON.points
MAX, POSSIBLE = f"{WORTH:g}", f"{WORTH:.2f}"
"""The points of the lesson as our reports write them, and as platforms do."""

RULES = """\
title = "Deep learning"
timezone = "UTC"
late_days = 1
penalty = 10
most_days = 5

[lessons.ch06]
due = 2027-03-01T12:00:00
"""


def a_result(student: str, passed: int | None = None, lesson: str = SLUG) -> SubmissionResult:
    """A result in which the first `passed` exercises pass, or all, and the others are not written."""
    passed = len(find_lesson(lesson).exercises) if passed is None else passed
    exercises = [
        ExerciseResult(
            one.name, one.points * (i < passed), one.points, "passed" if i < passed else "missing", "", None, "", 0.1
        )
        for i, one in enumerate(find_lesson(lesson).exercises)
    ]
    points, worth = sum(one.points for one in exercises), find_lesson(lesson).points
    return SubmissionResult(student, lesson, "f.py", "a", "v", "sandbox", points, worth, "graded", "", exercises, "s")


def write(folder: Path, *results: SubmissionResult, at: dict[str, HandedIn] | None = None) -> Path:
    """A folder of results; `at`: when each student handed in."""
    for result in results:
        write_json(result_file(folder, result.student, result.lesson), result.to_json())
    record = ClassRecord(folder)
    for kept in record._folders.values():
        kept.times = {(student, SLUG): when for student, when in (at or {}).items()}
    (folder / ".unfinished").mkdir(parents=True, exist_ok=True)
    record.write()
    return folder
