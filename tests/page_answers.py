"""A folder of answers: does a page tell of each what `backprop check` tells, to the last word of its card?

`python tests/page_answers.py ANSWERS PAGE [LESSON ...]`: `ANSWERS/<lesson>/<any name>.py`, whose first line names
the exercise (`# exercises: relu_vjp`), and the folder `_static/page` of a built book. The terminal runs in a release,
which has visible cases alone, as a page has. Points, status, name of the mistake and message are compared, and each
paragraph of the page's card with what the terminal prints.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page_table import FOLDER, rows

from autograder.authoring.release import release
from autograder.authoring.tree import Course

EXERCISE = re.compile(r"# exercises?: (\w+)")
PROGRAM = "import sys; from autograder.commands import run; sys.exit(run())"
TAKEN = re.compile(r"It was at .*, line \d+\.")
"""Only a page knows at which line it ended a call: a terminal ends the process."""


@dataclass(frozen=True)
class Told:
    """What is told of an answer."""

    points: float
    status: str
    mistake: str | None
    message: str
    card: str
    """All of it, in words with one space between them: of a page each paragraph, of a terminal what it prints."""


def answers_of(folder: Path, course: Course, slug: str) -> Iterator[tuple[str, str, str]]:
    """Exercise, file and notebook of each answer for a lesson that a page can check."""
    numpy_alone = {one.name for one in course.lessons[slug].exercises if "torch" not in one.environment.packages}
    for file in sorted((folder / slug).glob("*.py")):
        source = file.read_text(encoding="utf-8")
        if (named := EXERCISE.match(source)) and named[1] in numpy_alone:
            yield named[1], file.name, notebook(named[1], source)


def notebook(exercise: str, source: str) -> str:
    """A notebook with one cell, which is the exercise's."""
    cell = {"cell_type": "code", "metadata": {"exercise": exercise}, "source": source}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def in_terminal(released: Path, slug: str, exercise: str, text: str) -> Told:
    """What `backprop check` tells of a notebook, in the class's copy of the course."""
    with tempfile.TemporaryDirectory() as work:
        Path(work, f"{slug}.ipynb").write_text(text, encoding="utf-8")
        command = [sys.executable, "-P", "-c", PROGRAM, "check", f"{slug}/{exercise}", "--exact", "--format", "json"]
        where = {**os.environ, "PYTHONPATH": str(released), "COLUMNS": "1000"}
        run = subprocess.run(command, cwd=work, env=where, capture_output=True, text=True, check=False)
        try:
            (result,) = json.loads(Path(work, "check.json").read_text(encoding="utf-8"))["lessons"]
        except OSError:
            sys.exit(run.stderr[-2000:])
    (told,) = result["exercises"]
    return Told(
        told["points"],
        told["status"],
        told["misconception"],
        _in_page(told["message"], exercise),
        words(_in_page(run.stdout, exercise)),
    )


def _in_page(text: str, exercise: str) -> str:
    """The text with a page's name of the notebook's only cell."""
    return re.sub(rf"\b([Cc]ell) 1(?: \({exercise}\))?", rf"\1 {exercise}", text)


def of_card(card: dict[str, Any]) -> Told:
    """What a page's card tells."""
    message = TAKEN.sub("", card["message"])
    return Told(card["points"], card["status"], card["misconception"], message, "\n".join(paragraphs(card["blocks"])))


def paragraphs(blocks: list[dict[str, Any]]) -> Iterator[str]:
    """The words of each part of a card, without the hints, which a terminal shows when it is asked."""
    for block in blocks:
        if "inside" in block:
            if not block["summary"].startswith("Hint "):
                yield words(block["summary"])
                yield from paragraphs(block["inside"])
        else:
            yield words(TAKEN.sub("", block.get("lines") or f"{block['cause']} {block['rest']}"))


def words(text: str) -> str:
    return " ".join(text.split())


def differences(page: Told, terminal: Told) -> Iterator[str]:
    """Where the two tell different things, a line each."""
    for what in ("points", "status", "mistake", "message"):
        here, there = getattr(page, what), getattr(terminal, what)
        if here != there:
            yield f"{what}: in the page {here!r}\n    in a terminal {there!r}"
    for part in page.card.splitlines():
        if part not in terminal.card:
            yield f"in the page alone: {part}"


def compared(answers: Path, page: Path, slug: str, released: Path) -> tuple[int, int]:
    """How many answers a lesson has, and of how many something else is told."""
    course = Course.at()
    given = list(answers_of(answers, course, slug))
    if not given:
        return 0, 0
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as cases:
        json.dump([slug, [*map(list, given)]], cases)
        cases.flush()
        there = rows(["node", str(FOLDER / "page_table.mjs"), str(page), slug, cases.name, "cards"])
    differ = 0
    for (exercise, name, text), (card, _) in zip(given, there, strict=True):
        found = list(differences(of_card(card), in_terminal(released, slug, exercise, text)))
        differ += bool(found)
        print(*(f"{slug}/{name}: {one}" for one in found), sep="\n", end="\n" if found else "", flush=True)
    return len(given), differ


def main(answers: Path, page: Path, slugs: list[str]) -> int:
    slugs = slugs or sorted(file.name.partition(".")[0] for file in page.glob("ch*.tar.bz2"))
    many = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        released = Path(folder, "release")
        release(Course.at(), released, slugs, beside=False, say=lambda line: print(line, file=sys.stderr))
        for slug in slugs:
            count, differ = compared(answers, page, slug, released)
            many, wrong = many + count, wrong + differ
            print(f"{slug}: {count} answers, {differ} told otherwise", flush=True)
    print(f"all: {many} answers, {wrong} told otherwise")
    return int(bool(wrong) or not many)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
