"""Removes names from a class's results, so that they can be shown to others."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import PurePath

from autograder.judging.records.results import SubmissionResult

NAMED = ("canvas", "canvas-feedback", "moodle", "blackboard", "brightspace", "nbgrader", "gradescope")
"""Formats that are useless without names."""


def labels(count: int) -> list[str]:
    """Labels for `count` students in random order, since alphabetical order would identify them."""
    width = len(str(count))
    found = [f"student {number:0{width}}" for number in range(1, count + 1)]
    random.SystemRandom().shuffle(found)
    return found


def unnamed(result: SubmissionResult, label: str) -> SubmissionResult:
    """A result without name, file name, hash, and remarks, which quote them.

    Messages of exercises may contain the file's name, too, which platforms make from the student's.
    """
    ending = PurePath(result.file).suffix
    file = f"{result.lesson}{ending}" if result.lesson and ending in (".ipynb", ".py") else "a file"
    file = file if result.file else ""

    def without(text: str) -> str:
        for name in {result.file, PurePath(result.file).name} - {""}:
            text = text.replace(name, file)
        return text

    exercises = [
        replace(
            one,
            message=without(one.message),
            checks=[replace(check, message=without(check.message)) for check in one.checks],
        )
        for one in result.exercises
    ]
    return replace(result, student=label, file=file, sha256="", message="", exercises=exercises)
