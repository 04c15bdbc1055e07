"""The floor: what a grader pays that forks a warm process for each submission, runs it and confines nothing.

As a program, `floor.py PLAIN CLASS RESULT`, it is that grader: NumPy is imported, the checks are loaded and what they
expect is computed before the first submission. Each fork executes the cells, runs the checks as plain functions and
sends the points through a pipe.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import types
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assignment.generate import Assignment
    from graders.job import Job, Scores


def prepare(folder: Path, assignment: Assignment, submissions: int) -> Job:
    """Grading of a class of some size."""
    from assignment.generate import write_class
    from graders.job import Job

    students = write_class(folder / "class", assignment, submissions)
    plain, result = folder / "plain.py", folder / "result.json"
    plain.write_text(assignment.plain, encoding="utf-8")

    def scores() -> Scores:
        found: Scores = json.loads(result.read_text(encoding="utf-8"))
        return found

    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return Job([sys.executable, "-P", __file__, str(plain), str(students), str(result)], folder, scores, threads)


def main(plain: Path, students: Path, result: Path) -> None:
    """Grade all notebooks below `students`."""
    checks: dict[str, Any] = {}
    exec(plain.read_text(encoding="utf-8"), checks)
    solution, answer = checks["_solution"], checks["answer"]
    loaded = []
    for exercise, names in checks["CHECKS"].items():
        for name in names:
            cases = checks["cases"](exercise, name)
            loaded.append((exercise, [(arguments, answer(solution, exercise, arguments)) for arguments in cases]))
    warnings.simplefilter("ignore")
    scores = {}
    for folder in sorted(students.iterdir()):
        file = next(folder.glob("*.ipynb"))
        scores[folder.name] = json.loads(in_a_fork(file, checks, loaded))
    result.write_text(json.dumps(scores), encoding="utf-8")


def in_a_fork(file: Path, checks: dict[str, Any], loaded: list[Any]) -> bytes:
    """The points of one notebook, as JSON."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(theirs, json.dumps(points(file, checks, loaded)).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as stream:
        received = stream.read()
    os.waitpid(pid, 0)
    return received


def points(file: Path, checks: dict[str, Any], loaded: list[Any]) -> dict[str, int]:
    """Run the notebook here, and its checks."""
    submission = types.ModuleType("__main__")
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        with contextlib.suppress(Exception):  # the checks see what is missing
            exec(cell["source"], vars(submission))
    earned = dict.fromkeys((exercise for exercise, _ in loaded), 0)
    for exercise, cases in loaded:
        with contextlib.suppress(Exception):
            for arguments, expected in cases:
                checks["agree"](checks["answer"](submission, exercise, arguments), expected, **checks["TOLERANCE"])
            earned[exercise] += 1
    return earned


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
