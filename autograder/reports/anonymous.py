"""A class's results without names, to show around: nothing in them says whose they are."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import PurePath

from autograder.judging.records.results import SubmissionResult

NAMED = ("canvas", "moodle", "blackboard", "nbgrader", "gradescope")
"""Formats that are of no use without names."""


def labels(count: int) -> list[str]:
    """Names for so many students, in an order that is another each time: that of their own names would tell."""
    width = len(str(count))
    found = [f"student {number:0{width}}" for number in range(1, count + 1)]
    random.SystemRandom().shuffle(found)
    return found


def unnamed(result: SubmissionResult, label: str) -> SubmissionResult:
    """A result without the name, the file's name and hash, and remarks, which quote them."""
    ending = PurePath(result.file).suffix
    file = f"{result.lesson}{ending}" if result.lesson and ending in (".ipynb", ".py") else "a file"
    return replace(result, student=label, file=file, sha256="", message="")
