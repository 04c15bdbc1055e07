"""Descriptions of the keys in results' JSON files, which the book also lists."""

from __future__ import annotations

from autograder.judging.records.results import CheckResult, ExerciseResult, SubmissionResult

KEYS: dict[type, dict[str, str]] = {
    SubmissionResult: {
        "student": "The student, as the platform calls them.",
        "lesson": "The lesson's full name, such as `ch06_vjps`.",
        "file": "The file that was graded.",
        "sha256": "The hash of the file's bytes.",
        "grader_version": "Hash of everything that affects the lesson's grading; it changes when a check is corrected.",
        "isolation": "The sandbox that the submission ran in.",
        "salt_sha256": "A fingerprint of the class's salt.",
        "course": "The course's title; results of two courses cannot share a folder.",
        "visible_only": "True if no hidden case ran, because the course came without solutions: never in a class.",
        "points": "Points earned in all exercises.",
        "max_points": "Points possible.",
        "status": "The outcome of grading; reports add `not recognised`, `gone` and `excused`, without points.",
        "message": "Remarks on the hand-in: late, one of several files, for a team.",
        "exercises": "A list, one entry for each exercise.",
    },
    ExerciseResult: {
        "name": "The exercise's name.",
        "points": "Points earned.",
        "max_points": "Points possible.",
        "status": "The outcome.",
        "message": "What is wrong, in a student's words.",
        "misconception": "The known mistake that explains the answer, if it is one.",
        "misconceptions": "All known mistakes that explain the answer equally well.",
        "hint": "The first hint, where points are missing.",
        "seconds": "Seconds that the submission took.",
        "checks": "A list, one entry for each check and kind of input.",
        "grader_version": "Hash of everything that affects these points; if it changes, the exercise is graded again.",
    },
    CheckResult: {
        "name": "The check's name.",
        "visible": "Whether its inputs are the same for all; hidden ones are drawn with the salt.",
        "promise": "`value`: the judge compared, and this cannot be forged. `instrumented`: measured beside the "
        "submission, and hard to fake.",
        "passed": "Whether the answer was right.",
        "message": "What was wrong; for a hidden input, only which of a few things happened.",
    },
}
"""By record type, in reading order."""
