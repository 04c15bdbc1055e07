"""Every exercise that pages check, its reference and two known mistakes: do they get there what CPython gives them?

`python tests/page_table.py PAGE [LESSON ...]`, with PAGE the folder `_static/page` of a built book. Points, name of the
mistake and first line are compared; both judge from what the page fetches, and so with visible checks alone.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from autograder.answerbook import read_book
from autograder.authoring.mistaken import mistaken_cells, solved_cells
from autograder.authoring.tree import Course
from autograder.judging.checking.reference import Reference
from autograder.places import Places

FOLDER = Path(__file__).parent
IN_CPYTHON = """import sys
sys.path.insert(0, sys.argv[1])
found, told, whole = open(sys.argv[2]).read(), print, False
exec(open(sys.argv[3]).read())
"""
Row = Any
"""A result: a list, or a card."""


def cases_of(course: Course, slug: str) -> list[list[str]]:
    """Exercise, name of the answer, and the notebook with it."""
    lesson, solved = course.lessons[slug], solved_cells(course, slug)
    found = []
    for exercise in lesson.exercises:
        if "torch" in exercise.environment.packages:
            continue
        known = Reference(lesson).misconceptions([exercise.name])[:2]
        answers = {"reference": solved} | {
            one.name: mistaken_cells(solved, [one], course.mistakes(slug)) for one in known
        }
        found += [[exercise.name, name, _notebook(cells)] for name, cells in answers.items()]
    return found


def _notebook(cells: list[str]) -> str:
    written = [{"cell_type": "code", "metadata": {}, "source": source} for source in cells]
    return json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def rows(command: list[str]) -> list[tuple[Row, float]]:
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr[-2000:])
    return [(row, seconds) for row, seconds in map(json.loads, run.stdout.splitlines())]


def compared(page: Path, slug: str) -> tuple[int, int, list[float]]:
    """How many answers there are, how many of them got another result in Pyodide, and the seconds there."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("grader", "data", slug):
            with tarfile.open(page / f"{part}.tar.bz2") as archive:
                archive.extractall(folder, filter="data")
        _put_together(page / slug, Places(Path(folder)).answer_book(slug))
        cases = Path(folder, "cases.json")
        cases.write_text(json.dumps([slug, cases_of(Course.at(), slug)]), encoding="utf-8")
        checks = str(FOLDER / "page_table_checks.py")
        here = rows([sys.executable, "-P", "-c", IN_CPYTHON, folder, str(cases), checks])
        there = rows(["node", str(FOLDER / "page_table.mjs"), str(page), slug, str(cases)])
    wrong = 0
    for (expected, _), (got, _) in zip(here, there, strict=True):
        as_meant = got[1] == "reference" or got[3] == got[1]
        if expected != got or not as_meant:
            wrong += expected != got
            print(f"{'differs' if expected != got else 'note: named otherwise'}: {got}\n    CPython: {expected[2:]}")
    return len(here), wrong, [seconds for _, seconds in there]


def _put_together(parts: Path, file: Path) -> None:
    """Let CPython have the whole answer book, as a learner's copy of the course does: a page has an exercise's part."""
    book = read_book(file)
    for part in sorted(parts.glob("*.book")):
        book.add(read_book(part))
    file.write_bytes(book.to_bytes())


def main(page: Path, slugs: list[str]) -> int:
    slugs = slugs or sorted(file.name.partition(".")[0] for file in page.glob("ch*.tar.bz2"))
    wrong, times = 0, list[float]()
    for slug in slugs:
        count, differ, seconds = compared(page, slug)
        wrong += differ
        times += seconds
        took = f"{statistics.median(seconds):.2f} s a check, {max(seconds):.1f} at most"
        print(f"{slug}: {count} answers, {differ} differ; {took}", flush=True)
    print(f"all: {len(times)} answers, {wrong} differ; 9 of 10 within {statistics.quantiles(times, n=10)[-1]:.2f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
