"""Descriptions of the keys in results' JSON files, which the book also lists."""

from __future__ import annotations

from autograder.judging.records.results import CheckResult, ExerciseResult, SubmissionResult

KEYS: dict[type, dict[str, str]] = {
    SubmissionResult: {
        "student": "Whose work it is, as the platform calls them.",
        "lesson": "The lesson's whole name, as `ch06_vjps`.",
        "file": "The file that was graded.",
        "sha256": "Exactly which bytes those were.",
        "grader_version": "What graded it: a corrected check is another version of its lesson's grader.",
        "isolation": "What confined the submission.",
        "salt_sha256": "A fingerprint of the class's salt.",
        "course": "What the course calls itself; results of two courses cannot share a folder.",
        "visible_only": "True where the course had no solutions beside it, and no hidden case ran: never in a class.",
        "points": "What was earned, of all exercises.",
        "max_points": "What could be earned.",
        "status": "How the hand-in went; in reports also `not recognised`, `gone` and `excused`, without points.",
        "message": "What there is to say of it: late, one of several files, for a team.",
        "exercises": "A list, one entry for each exercise.",
    },
    ExerciseResult: {
        "name": "The exercise's.",
        "points": "What was earned.",
        "max_points": "What could be earned.",
        "status": "How it went.",
        "message": "What is wrong, in a student's words.",
        "misconception": "The known mistake that explains the answer, if it is one.",
        "misconceptions": "All known mistakes that explain it equally well.",
        "hint": "The first hint, where points are missing.",
        "seconds": "The submission's own time.",
        "checks": "A list, one entry for each check and kind of input.",
        "grader_version": "A hash of all that decides these points: where it changes, the exercise is graded again.",
    },
    CheckResult: {
        "name": "The check's.",
        "visible": "Whether its inputs are the same for all; hidden ones are drawn with the salt.",
        "promise": "`value`: the judge compared, and this cannot be forged. `instrumented`: measured beside the "
        "submission, and hard to fake.",
        "passed": "Whether the answer was right.",
        "message": "What was wrong; of a hidden input, only which of a few things happened.",
    },
}
"""By record type, in reading order."""
