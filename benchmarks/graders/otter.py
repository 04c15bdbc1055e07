"""Otter-Grader, in a virtual environment of its own: `otter run` for each notebook, and its API in one process."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from assignment.generate import Assignment, write_class
from graders.job import Job, Scores, Unavailable

REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"
EACH = """
for folder in class/*; do
    mkdir -p "results/${folder#class/}"
    "$0" run --no-logo -a autograder.zip -o "results/${folder#class/}" "$folder/bench.ipynb" > run.log 2>&1 || exit 1
done
"""
IN_ONE_PROCESS = """
import json, pathlib
from otter.api import grade_submission
for file in sorted(pathlib.Path("class").glob("*/bench.ipynb")):
    results = grade_submission(str(file), "autograder.zip", quiet=True)
    out = pathlib.Path("results") / file.parent.name
    out.mkdir(parents=True)
    points = [{"name": name, "score": results.get_score(name)} for name in results.test_files]
    (out / "results.json").write_text(json.dumps({"tests": points}))
"""


def environment() -> Path:
    """The folder of Otter's programs; installed once for each state of the requirements. `Unavailable` if it cannot."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "backprop-benchmarks"
    folder = cache / f"otter-{digest}"
    if not (folder / "complete").exists():  # the last thing that is written
        shutil.rmtree(folder, ignore_errors=True)
        print(f"installing Otter-Grader into {folder} …", file=sys.stderr)
        venv.create(folder, with_pip=True)
        install = [str(folder / "bin" / "pip"), "install", "--quiet", "--requirement", str(REQUIREMENTS)]
        done = subprocess.run(install, capture_output=True, text=True)
        if done.returncode:
            reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
            raise Unavailable(f"Otter-Grader cannot be installed ({reasons[-1][7:] if reasons else 'no reason given'})")
        (folder / "complete").touch()
    return folder / "bin"


def prepare(folder: Path, assignment: Assignment, submissions: int, *, api: bool = False) -> Job:
    """Grading of a class of some size; with `api` in one process of Otter's, else with a command for each."""
    programs = environment()
    write_class(folder / "class", assignment, submissions)
    tests = folder / "tests"
    tests.mkdir()
    for exercise in assignment.checks:
        (tests / f"{exercise}.py").write_text(test_file(assignment, exercise), encoding="utf-8")
    env = {name: str(folder / "jupyter") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    env["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
    generate = [str(programs / "otter"), "generate", "-t", "tests", "-o", "autograder.zip"]
    subprocess.run(generate, cwd=folder, env={**os.environ, **env}, check=True, capture_output=True)
    command = [str(programs / "python"), "-c", IN_ONE_PROCESS] if api else ["sh", "-c", EACH, str(programs / "otter")]
    return Job(command, folder, lambda: _scores(folder / "results", assignment), env)


def test_file(assignment: Assignment, exercise: str) -> str:
    """The checks of an exercise in Otter's format of functions that assert."""
    parts = [assignment.plain, "from otter.test_files import test_case", "OK_FORMAT = False", f"name = {exercise!r}"]
    checks = assignment.checks[exercise]
    for i, check in enumerate(checks):
        hidden = check == checks[-1]
        parts.append(
            f"@test_case(points=1, hidden={hidden})\ndef test_{i}(env):\n"
            f"    check(types.SimpleNamespace(**env), {exercise!r}, {check!r})"
        )
    return "\n\n".join([*parts, "points = None"])


def _scores(results: Path, assignment: Assignment) -> Scores:
    found: Scores = {}
    for file in results.glob("*/results.json"):
        points = dict.fromkeys(assignment.checks, 0.0)
        for test in json.loads(file.read_text(encoding="utf-8"))["tests"]:
            if test["name"] in points:  # the others sum up
                points[test["name"]] = test["score"]
        found[file.parent.name] = points
    return found
