"""This project: `backprop grade` of a class, on a copy of the course that has the assignment as one more lesson."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from assignment.generate import SLUG, Assignment, write_class
from autograder.places import Places, file_of
from graders.job import Job, Scores, Unavailable

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("course", "autograder", "solutions")
COMMAND = [sys.executable, "-P", "-c", "from autograder.commands import app; app()"]


def copy_course(folder: Path, assignment: Assignment, *, misconceptions: bool = False) -> Path:
    """A course in `folder` with the assignment in it, and its wrong answers as misconceptions if they are asked for.

    Raises `Unavailable` if Python would not take the grader from there.
    """
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "sample_class"))
    with (folder / "course" / "syllabus.toml").open("a", encoding="utf-8") as syllabus:
        syllabus.write(_entry(assignment))
    (folder / "solutions" / f"{SLUG}.py").write_text(assignment.solution, encoding="utf-8")
    places = Places(folder)
    first = next(iter(assignment.checks))  # whose files have all exercises': whole lessons are graded here
    files = {
        places.folder(SLUG) / "cases.py": assignment.text("cases.py"),
        file_of(places.checks(SLUG), first): assignment.text("checks.py"),
        file_of(places.scenarios(SLUG), first): assignment.text("scenarios.py"),
        file_of(places.mistakes(SLUG), first): _misconceptions(assignment) if misconceptions else "",
    }
    for file, text in files.items():
        if text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    _verify(folder)
    return folder


def prepare(
    folder: Path,
    course: Path,
    assignment: Assignment,
    submissions: int,
    loops: frozenset[int] = frozenset(),
    options: tuple[str, ...] = (),
) -> Job:
    """Grading of a class of some size with the course of `copy_course`."""
    students = write_class(folder / "class", assignment, submissions, loops)
    results = folder / "results"
    return Job(
        command=[*COMMAND, "grade", str(students), "--out", str(results), "--salt", "benchmark", *options],
        cwd=folder,
        env={"PYTHONPATH": str(course)},
        scores=lambda: _scores(results),
        first=lambda: any(results.glob(f"students/student*/{SLUG}.json")),
    )


def confinement(results: Path) -> str:
    """What confined the submissions, as the results say."""
    file = next(results.glob(f"students/*/{SLUG}.json"))
    return str(json.loads(file.read_text(encoding="utf-8"))["isolation"])


def timeouts(results: Path) -> int:
    """How many exercises ended because a call took too long."""
    files = results.glob(f"students/*/{SLUG}.json")
    return sum(
        exercise["status"] == "timeout"
        for file in files
        for exercise in json.loads(file.read_text(encoding="utf-8"))["exercises"]
    )


def _entry(assignment: Assignment) -> str:
    """The lesson's part of the syllabus."""
    lines = [
        "\n[[lesson]]",
        f'slug = "{SLUG}"',
        'title = "Benchmark"',
        'part = "Benchmark"',
        "minutes = 1",
        f"packages = {json.dumps(assignment.packages)}",
        "modules = []",
    ]
    for exercise, checks in assignment.checks.items():
        lines += ["[[lesson.exercise]]", f'name = "{exercise}"', f"points = {len(checks)}", 'tier = "core"']
        lines += ['hints = ["One.", "Two."]']
    return "\n".join(lines) + "\n"


def _misconceptions(assignment: Assignment) -> str:
    """The wrong answers to exercises that are functions, each under its name."""
    parts = [assignment.setup, "from autograder.diagnosis import misconception"]
    for exercise, answers in assignment.answers.items():
        wrong = {kind: source for kind, source in answers.items() if kind.startswith("wrong, ")}
        for i, (kind, source) in enumerate(wrong.items()):
            says = f"Wrong: {kind.removeprefix('wrong, ')}."
            function = source.replace(f"def {exercise}(", f"def {exercise}_{i}(", 1)
            parts.append(f"@misconception({exercise!r}, says={says!r})\n{function}")
    return "\n\n".join(parts)


def _verify(folder: Path) -> None:
    """Let the command itself say where it takes the grader from: the installed one must not come first."""
    print_it = [*COMMAND[:-1], "import autograder, course; print(autograder.__file__, course.__file__)"]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    said = subprocess.run(print_it, env=env, cwd=folder, capture_output=True, text=True, check=True).stdout.split()
    if not all(Path(file).is_relative_to(folder) for file in said):
        raise Unavailable(f"the grader would be taken from {said[0]}, not from the copy with the assignment")


def _scores(results: Path) -> Scores:
    found: Scores = {}
    for file in results.glob(f"students/*/{SLUG}.json"):
        result = json.loads(file.read_text(encoding="utf-8"))
        found[result["student"]] = {exercise["name"]: exercise["points"] for exercise in result["exercises"]}
    return found
