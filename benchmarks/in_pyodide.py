"""The judge in a browser's Python: `python benchmarks/in_pyodide.py [LESSON ...]`; README.md says what is counted.

Writes a release of the lessons with exercises that need no PyTorch, and judges there, under node: each solution, and
two known mistakes of each exercise. Points, names and first lines are held against what the same release says in this
Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from autograder.answerbook import read_book
from autograder.authoring.mistaken import mistaken_cells, solved_cells
from autograder.authoring.release import release
from autograder.authoring.tree import Course
from autograder.judging.collection import with_judge
from autograder.judging.here import graded_here
from autograder.judging.reference import Reference
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import parse_submission
from course.syllabus import Exercise, find_lesson

LESSONS = ("ch01", "ch02", "ch03", "ch05", "ch06", "ch07")
EACH = 2
"""Known mistakes of an exercise."""
NUMPY = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"
ROOT = Path(__file__).resolve().parents[1]
WHEELS = Path(os.environ.get("BACKPROP_WHEELS", ROOT.parent / "shared" / "wheels"))


@dataclass(frozen=True)
class Case:
    """An answer to one exercise: the solution, or one with a known mistake."""

    slug: str
    file: str
    exercise: str
    mistake: str


def main(names: list[str]) -> int:
    course = Course.at()
    slugs = [slug for slug in course.lessons if slug.startswith(tuple(names or LESSONS))]
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        release(course, folder / "release", slugs)
        cases = [case for slug in slugs for case in written_cases(course, slug, folder)]
        there = in_pyodide(folder, cases)
        here = [
            found for slug, of in groupby(cases, lambda case: case.slug) for found in in_this_python(folder, slug, of)
        ]
    return report(cases, here, there)


def written_cases(course: Course, slug: str, folder: Path) -> list[Case]:
    """The answers of a lesson, each in a file."""
    reference, solved = Reference(course.lessons[slug], course.root), solved_cells(course, slug)
    found = []
    for exercise in course.lessons[slug].exercises:
        if not needs_torch(exercise):
            known = [None, *reference.misconceptions([exercise.name])[:EACH]]
            for number, mistake in enumerate(known):
                cells = mistaken_cells(solved, [mistake], course.mistakes(slug)) if mistake else solved
                file = f"{slug}-{exercise.name}-{number}.py"
                (folder / file).write_text("".join(f"# %%\n{cell}\n\n" for cell in cells), encoding="utf-8")
                found.append(Case(slug, file, exercise.name, mistake.name if mistake else ""))
    return found


def needs_torch(exercise: Exercise) -> bool:
    return "torch" in exercise.kit.packages


def in_pyodide(folder: Path, cases: list[Case]) -> list[list[Any]]:
    """Status, points, message and seconds of each."""
    program: list[str | Path] = [
        ROOT / "tests" / "in_pyodide.mjs",
        ROOT / "book" / "node_modules" / "pyodide",
        WHEELS / NUMPY,
    ]
    asked = [f"{case.slug}:{case.file}:{case.exercise}" for case in cases]
    command = ["node", *program, sys.prefix, folder, *asked]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    results = json.loads(found.stdout.splitlines()[-1])
    return [result[case.exercise] for case, result in zip(cases, results, strict=True)]


def in_this_python(folder: Path, slug: str, cases: Any) -> list[list[Any]]:
    """The same, by the release's book."""
    book = read_book(Places(folder / "release").answer_book(slug))
    return with_judge(find_lesson(slug), partial(judged, folder=folder, cases=list(cases)), book=book)


def judged(judge: Judge, folder: Path, cases: list[Case]) -> list[list[Any]]:
    found = []
    for case in cases:
        submission = parse_submission(case.file, (folder / case.file).read_bytes())
        (one,) = graded_here(judge, submission, [case.exercise])
        found.append([one.status, one.points, one.message, 0.0])
    return found


def report(cases: list[Case], here: list[list[Any]], there: list[list[Any]]) -> int:
    """Print what differs, and how long a verdict takes."""
    otherwise, slow = 0, []
    for case, (status, points, message, _), (*got, seconds) in zip(cases, here, there, strict=True):
        slow.append((round(seconds, 1), f"{case.exercise} {case.mistake}".strip()))
        told, expected = [*got[:2], _first_line(got[2])], [status, points, _first_line(message)]
        if told != expected or (not case.mistake) != (status == "passed"):
            otherwise += 1
            print(f"{case.slug} {case.exercise} {case.mistake}: {expected}, in Pyodide {told}")
    right = [one[3] for case, one in zip(cases, there, strict=True) if not case.mistake]
    wrong = [one[3] for case, one in zip(cases, there, strict=True) if case.mistake]
    print(f"{len(right)} solutions and {len(wrong)} known mistakes; {otherwise} are told otherwise")
    print(f"Seconds of a verdict, median: right {median(right):.2f}, wrong {median(wrong):.2f}; the slowest:")
    print("    " + ", ".join(f"{name} {seconds:g}" for seconds, name in sorted(slow)[:-9:-1]))
    return 1 if otherwise else 0


def _first_line(message: str) -> str:
    return message.partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
