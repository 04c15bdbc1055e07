"""Tells whether a file has work on a lesson, or only the code that the course handed out. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from autograder.places import Places
from autograder.submission import Cell, SubmissionError, lines_of, read_submission
from course.syllabus import find_lesson

MOST_LINES = 50_000
"""How many lines of a file are examined; the course's notebooks have a few hundred."""
_TEXTS = re.compile(r'""".*?"""|\'\'\'.*?\'\'\'', re.DOTALL)
_TOP = re.compile(r"(?:(?:async +)?def|class) +(\w+)|([\w.]+) *=(?!=)")
"""A definition or assignment at the top level of a cell."""
_NO_ANSWER = re.compile(
    r"""(?:async\ def|def|class)\b.*[:(,]\ *(?:\#.*)?$
    | (?:(?:async\ def|def|class)\b.*:\ *)?(?:pass|\.\.\.|raise\ NotImplementedError\b.*)\ *(?:\#.*)?$
    | .*,$ | import\b | from\b | @ | [)\]}]""",
    re.VERBOSE,
)
"""Lines that stubs have in any version of the course."""


def holds_work(cells: Sequence[Cell], slug: str) -> bool:
    """Whether any exercise of the lesson has code that the course did not hand out."""
    return bool(exercises_with_work(cells, slug))


def has_own_code(cells: Sequence[Cell], slug: str) -> bool:
    """Whether any cell has code that the course did not hand out, inside or outside of exercises."""
    ours, _ = _handed_out(slug, Places().notebook(slug))
    lines = (code for _, code in islice(_lines_of(cells, slug), MOST_LINES))
    return any(code not in ours and not _NO_ANSWER.match(code) for code in lines)


def exercises_with_work(cells: Sequence[Cell], slug: str) -> set[str]:
    """The exercises of a lesson that have code which the course did not hand out.

    That means a line that is in no stub or, in a program handed out for repair, any change of its lines.
    """
    ours, programs = _handed_out(slug, Places().notebook(slug))
    theirs: dict[str, list[str]] = {}
    found = set()
    for name, line in islice(_lines_of(cells, slug), MOST_LINES):
        if name and line not in ours and not _NO_ANSWER.match(line):
            found.add(name)
        theirs.setdefault(name, []).append(line)
    return found | {name for name, lines in programs.items() if theirs.get(name, lines) != lines}


def programs_to_mend(slug: str) -> set[str]:
    """The exercises of a lesson that are handed out as running programs for repair."""
    return set(_handed_out(slug, Places().notebook(slug))[1])


def _lines_of(cells: Sequence[Cell], slug: str) -> Iterator[tuple[str, str]]:
    """The lines of code of a file, each with the exercise that it belongs to; "" if none."""
    exercises = {exercise.name for exercise in find_lesson(slug).exercises}
    roots = exercises | {name.partition(".")[0] for name in exercises}
    return (pair for cell in cells for pair in _lines(cell, roots))


def _lines(cell: Cell, exercises: set[str]) -> Iterator[tuple[str, str]]:
    within = ""
    for line in lines_of(_TEXTS.sub("", cell.source)):
        code = line.strip()
        if not code or code.startswith("#"):
            continue
        if not line[0].isspace() and code[0] not in ")]}@":
            match = _TOP.match(line)
            name = (match[1] or match[2]) if match else ""
            within = name if name in exercises else ""
        yield (cell.exercise if cell.exercise in exercises else within), code


@cache
def _handed_out(slug: str, notebook: Path) -> tuple[frozenset[str], dict[str, list[str]]]:
    """The lines of code in the lesson's notebook, and the lines of each program for repair by exercise."""
    try:
        cells = read_submission(notebook).cells
    except SubmissionError:
        return frozenset(), {}
    stubs: dict[str, list[str]] = {}
    for name, line in _lines_of(cells, slug):
        stubs.setdefault(name, []).append(line)
    to_write = {name for name, lines in stubs.items() if any("NotImplementedError" in line for line in lines)}
    programs = {name: lines for name, lines in stubs.items() if name and name not in to_write}
    return frozenset(line for lines in stubs.values() for line in lines), programs
