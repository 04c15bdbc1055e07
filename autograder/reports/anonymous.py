"""A class's results without names, to show around: nothing in them says whose they are."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import PurePath

from autograder.judging.records.results import SubmissionResult

NAMED = ("canvas", "moodle", "blackboard", "brightspace", "nbgrader", "gradescope")
"""Formats that are of no use without names."""


def labels(count: int) -> list[str]:
    """Names for so many students, in an order that is another each time: that of their own names would tell."""
    width = len(str(count))
    found = [f"student {number:0{width}}" for number in range(1, count + 1)]
    random.SystemRandom().shuffle(found)
    return found


def unnamed(result: SubmissionResult, label: str) -> SubmissionResult:
    """A result without the name, the file's name and hash, and remarks, which quote them.

    What is said of an exercise may name the file, too: platforms put students' names into those.
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
