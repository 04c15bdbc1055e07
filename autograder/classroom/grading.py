"""Grades one file and always returns a result, whatever the file contains."""

from __future__ import annotations

import hashlib
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.class_folder import Work
from autograder.classroom.course_files import is_solution
from autograder.classroom.lesson_names import lessons_within
from autograder.judging.asking.source_text import SourceText
from autograder.judging.checking.salt import fingerprint
from autograder.judging.records.errors import CheckError
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.records.status import SubmissionStatus
from autograder.judging.version import exercise_version, grader_version
from autograder.submission import Submission, SubmissionError, read_bytes, read_submission
from autograder.wording import clean, enumeration
from course.syllabus import course_title, find_lesson

if TYPE_CHECKING:
    from autograder.isolation import Workers
    from autograder.judging.session import Judge


def grade_work(judge: Judge, workers: Workers, work: Work) -> SubmissionResult:
    """The result of one submission, even if its file cannot be read."""
    try:
        submission = read_submission(work.file, inside=work.file.parent)
    except SubmissionError as error:
        return ungraded(work, "unreadable", f"{work.file.name}: {error}.", workers.isolation, judge.salt)
    standing = _kept_results(submission, work, judge)
    if work.before is not None and len(standing) == len(judge.lesson.exercises):
        message = work.before.message.removesuffix(work.remark).strip()  # `Plan.keep` appends the remark again
        return replace(work.before, message=message, grader_version=judge.version())
    try:
        result = judge.grade(submission, workers, student=work.student, of_many=True, standing=standing)
    except CheckError as error:
        what = f"an error of the course, not of this work; when it is mended, run the same command again: {error}"
        return ungraded(work, "killed", what, workers.isolation, judge.salt)
    except Exception as error:  # a bug in the grader must not stop the whole class
        last = traceback.extract_tb(error.__traceback__)[-1]  # the exception's message may contain hidden data
        where = f"{Path(last.filename).name}, line {last.lineno}"
        what = f"the grader itself failed ({type(error).__name__} in {where}); please report it."
        return ungraded(work, "killed", what, workers.isolation, judge.salt)
    for exercise in result.exercises:
        exercise.grader_version = exercise_version(work.lesson, exercise.name)
    if is_solution(submission.sha256):
        what = f"{clean(work.file.name, 80)} is the course's own solution, byte for byte."
        result.message = f"{result.message} {what}".strip()
    if result.exercises and all(exercise.status == "missing" for exercise in result.exercises):
        others = lessons_within(submission.cells)
        if others and work.lesson not in others:
            name, meant = clean(work.file.name, 80), enumeration(others, "or")
            what = f"The exercises in {name} are those of {meant}: was that meant?"
            result.message = f"{result.message} {what}".strip()
    return result


def ungraded(work: Work, status: SubmissionStatus, message: str, isolation: str, salt: str) -> SubmissionResult:
    """The result of work that could not be graded: no points, and why."""
    return SubmissionResult(
        student=work.student,
        lesson=work.lesson,
        file=work.file.name,
        sha256=file_sha256(work),
        grader_version=grader_version(work.lesson),
        isolation=isolation,
        points=0.0,
        max_points=find_lesson(work.lesson).points,
        status=status,
        message=clean(message, 300),
        salt_sha256=fingerprint(salt),
        course=course_title(),
    )


def file_sha256(work: Work) -> str:
    """Hash of the file's bytes; empty if the file cannot be graded (a device, a link to /proc, 1 TB)."""
    try:
        return hashlib.sha256(read_bytes(work.file, work.file.parent)).hexdigest()
    except SubmissionError:
        return ""


def up_to_date(result: SubmissionResult | None, work: Work, salt: str) -> bool:
    """Whether a result is of this file, this grader version and this salt. Reads the file only if the rest agrees."""
    of_this_grader = result is not None and result.grader_version == grader_version(work.lesson)
    return of_this_grader and is_of(result, work, salt)


def is_of(result: SubmissionResult | None, work: Work, salt: str) -> bool:
    """Whether a result, by any version of the grader, is of this file and this salt.

    The file's name and the remark about other files count, too, because the result shows them.
    """
    return (
        result is not None
        and (result.student, result.lesson) == (work.student, work.lesson)
        and result.status != "killed"
        and result.salt_sha256 == fingerprint(salt)
        and result.file == work.file.name
        and work.remark in result.message
        and result.sha256 == file_sha256(work)
    )


def _kept_results(submission: Submission, work: Work, judge: Judge) -> dict[str, ExerciseResult]:
    """Results of an earlier grader version that this version would reproduce, by exercise.

    These are exercises whose grading has not changed, except those that call an exercise that is graded now: their
    feedback may depend on whether that exercise is right.
    """
    before = work.before
    if before is None or before.status != "graded" or before.visible_only is judge.asks_hidden:
        return {}
    found = {
        result.name: result
        for result in before.exercises
        if any(exercise.name == result.name for exercise in judge.lesson.exercises)
        and result.grader_version == exercise_version(work.lesson, result.name)
    }
    text = SourceText(submission, [])
    while True:
        graded = [exercise.name for exercise in judge.lesson.exercises if exercise.name not in found]
        calling = [name for name in found if text.calls(name, graded)]
        if not calling:
            return found
        for name in calling:
            del found[name]
