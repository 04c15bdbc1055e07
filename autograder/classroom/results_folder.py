"""A folder of results: one file for each student and lesson, and a summary of the class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.classroom.class_folder import SUMMARY
from autograder.judging.results import SubmissionResult, write_json


def result_file(folder: Path, student: str, lesson: str) -> Path:
    """Where the result of one submission lies."""
    return folder / student / f"{lesson}.json"


def read_result(file: Path) -> SubmissionResult | None:
    """The result in `file`; None if there is none, or none that can be read."""
    try:
        return SubmissionResult.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_results(folder: Path) -> tuple[list[SubmissionResult], list[str]]:
    """All results below `folder`, by student and lesson, and a line for each file that is none."""
    found, problems = [], []
    for file in sorted(folder.glob("*/*.json")):
        result = read_result(file)
        if result is None:
            problems.append(f"{file} is not a result; grade the class again to replace it")
        else:
            found.append(result)
    return found, problems


def write_summary(folder: Path, results: list[SubmissionResult]) -> None:
    """Write the class summary beside the results."""
    rows: list[dict[str, Any]] = [
        {
            "student": result.student,
            "lesson": result.lesson,
            "points": result.points,
            "max_points": result.max_points,
            "status": result.status,
            "message": result.message,
        }
        for result in results
    ]
    write_json(folder / SUMMARY, {"submissions": rows})
