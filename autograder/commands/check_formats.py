"""Writes results of `backprop check` for programs: JSON, JUnit XML, GitHub's and Gradescope's formats."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from autograder.classroom.results_folder import result_file
from autograder.commands.console import console, echo, give_up, say
from autograder.judging.records.results import SubmissionResult, write_json
from autograder.new_files import refuse_link
from autograder.wording import enumeration

FORMATS = ("json", "junit", "github", "gradescope")
MINE = "my-work"
"""The learner's name in these files."""


def formats_in(text: str | None) -> list[str]:
    """The formats requested, without duplicates. Ends the command if one is unknown."""
    names = list(dict.fromkeys(name.strip() for name in text.split(","))) if text is not None else []
    for name in names:
        if name not in FORMATS:
            give_up(f"there is no format {name!r}; there are {enumeration(FORMATS)}")
    return names


def write_formats(names: Iterable[str], out: Path, results: Iterable[SubmissionResult]) -> None:
    """Write the results in these formats: `check.json`, `junit.xml`, `gradescope/results.json`, a workflow's summary.

    If the course has no solutions beside it, points count visible cases only, and each result says so.
    """
    from autograder.reports.all_formats import make_all
    from autograder.reports.class_results import ClassResults
    from autograder.reports.formats import Order

    found = list(results)
    names = list(names)
    try:
        if "json" in names:
            write_json(out / "check.json", _summary(found))
            echo(f"json: {out / 'check.json'}", err=True)
        reports = [name for name in names if name != "json"]
        refuse_link(*(out / name for name in reports))  # each may be a folder
        if reports and found:
            with tempfile.TemporaryDirectory(prefix="backprop-check-") as folder:
                for result in found:
                    result.student = MINE
                    write_json(result_file(Path(folder), MINE, result.lesson), result.to_json())
                for each in make_all(reports, Order(ClassResults(Path(folder)), out, console())) or []:
                    for line in each.lines:
                        echo(line, err=True)
                    if each.problem():
                        say(each.problem())
    except OSError as error:
        give_up(f"{error.filename or out} cannot be written ({error.strerror})")


def _summary(results: list[SubmissionResult]) -> dict[str, object]:
    return {
        "points": sum(result.points for result in results),
        "max_points": sum(result.max_points for result in results),
        "visible_only": any(result.visible_only for result in results),
        "lessons": [result.to_json() for result in results],
    }
