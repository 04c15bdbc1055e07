"""nbgrader: a course folder, its release, a class that hands it in, and `nbgrader autograde` of the class."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

from assignment.generate import SLUG, Assignment, code_cell, notebook, student
from graders.job import Job, Scores, Unavailable

COMMAND = [sys.executable, "-m", "nbgrader"]


def prepare(folder: Path, assignment: Assignment, submissions: int) -> Job:
    """Autograding of a class of some size in a fresh course folder with a database of its own."""
    if importlib.util.find_spec("nbgrader") is None:
        raise Unavailable("nbgrader is not installed; it comes with the extra `instructor`")
    (folder / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.root = {str(folder)!r}\n", encoding="utf-8"
    )
    source = folder / "source" / SLUG / f"{SLUG}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(instructor_notebook(assignment), encoding="utf-8")
    env = {name: str(folder / "jupyter") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    subprocess.run(
        [*COMMAND, "generate_assignment", SLUG, "--quiet"], cwd=folder, env={**os.environ, **env}, check=True
    )
    release = json.loads((folder / "release" / SLUG / f"{SLUG}.ipynb").read_text(encoding="utf-8"))
    for number in range(submissions):
        file = folder / "submitted" / student(number) / SLUG / f"{SLUG}.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(_filled(release, assignment.submission(number))), encoding="utf-8")
    return Job([*COMMAND, "autograde", SLUG, "--quiet"], folder, lambda: _scores(folder, assignment), env)


def instructor_notebook(assignment: Assignment) -> str:
    """The source version: for each exercise a cell to write in and a cell of points for each check."""
    cells = [_cell(assignment.setup, "setup"), _cell(assignment.plain, "checks")]
    for exercise, checks in assignment.checks.items():
        cells.append(_cell(assignment.answers[exercise]["correct"], exercise, solution=True))
        for i, name in enumerate(checks):
            test = f"check(types.SimpleNamespace(**globals()), {exercise!r}, {name!r})"
            if name == checks[-1]:
                test = f"### BEGIN HIDDEN TESTS\n{test}\n### END HIDDEN TESTS"
            cells.append(_cell(test, f"{exercise}-{i}", points=1))
    return notebook(cells)


def _cell(source: str, identifier: str, *, solution: bool = False, points: int = 0) -> dict[str, object]:
    """A cell with nbgrader's metadata: to be written in, worth points, or only locked."""
    about = {
        "grade_id": identifier,
        "grade": points > 0,
        "solution": solution,
        "locked": not solution,
        "task": False,
        "schema_version": 3,
    }
    return code_cell(source, identifier, nbgrader=about | ({"points": points} if points else {}))


def _filled(release: dict[str, list[dict[str, dict[str, dict[str, str]]]]], answers: dict[str, str]) -> object:
    """The released notebook with a learner's cells in it."""
    cells = []
    for cell in release["cells"]:
        identifier = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        cells.append({**cell, "source": answers[identifier]} if identifier in answers else cell)
    return {**release, "cells": cells}


def _scores(folder: Path, assignment: Assignment) -> Scores:
    from nbgrader.api import Gradebook

    found: Scores = {}
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        for handed_in in gradebook.notebook_submissions(SLUG, SLUG):
            points = dict.fromkeys(assignment.checks, 0.0)
            for grade in handed_in.grades:
                points[grade.name.rpartition("-")[0]] += grade.auto_score or 0.0
            found[handed_in.student.id] = points
    return found
