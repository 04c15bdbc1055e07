"""Which lesson a file is: by its name, which learners, browsers and learning platforms change, or by what is in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from autograder.submission import Cell
from course.own import own_course
from course.syllabus import syllabus

NUMBERED = re.compile(r"(?<![a-z])ch(?:apter)?[\W_]*0*(\d+)")
"""`ch06`, `CH6`, `Chapter 6`, in small letters."""
SLUG = re.compile(r"ch(\d+)_(.+)")
COPY = re.compile(r"(?:[-_ (]|copy)(\d{1,4})\)?$", re.IGNORECASE)
"""`(1)` of a browser, `-Copy1` of Jupyter, `-1` of Canvas."""
MOST_NAMES = 10_000
"""Definitions of one file that are looked at."""
DEFINITION = re.compile(r"^(?:def|class) +(\w+)", re.MULTILINE)


def lessons_named(stem: str) -> list[str]:
    """The lessons that a file's name could mean, by slug; none where it names a chapter that is no lesson.

    A name means a lesson by its number (`ch06`, `Chapter 6`) or its topic (`vjps`), and may mean several.
    """
    if stem in syllabus():
        return [stem]
    text = stem.lower()
    numbers, topics = _numbers_and_topics(own_course())
    named = [numbers.get(int(number)) for number in NUMBERED.findall(text)]
    if None in named:
        return []
    squeezed = _squeezed(text)
    named += [slug for topic, slug in topics.items() if topic in squeezed]
    return sorted({slug for slug in named if slug is not None})


def copy_number(stem: str) -> int:
    """Which copy a name says that its file is: 2 for `ch06_vjps (2)`, 0 for a name that says nothing."""
    match = COPY.search(NUMBERED.sub("", stem.lower()))  # the number of a chapter is none of a copy
    return int(match[1]) if match else 0


def lessons_within(cells: Sequence[Cell]) -> list[str]:
    """The lessons that exercises could all be of: by the course's marks on cells, else by what they define.

    Nothing is run. Of a file that defines a million names the first are looked at.
    """
    taught = _taught(own_course())
    marked = {cell.exercise for cell in cells}
    found = (match[1] for cell in cells for match in DEFINITION.finditer(cell.source))
    defined = taught.keys() & set(islice(found, MOST_NAMES))
    for names in (marked & taught.keys(), defined):
        possible = frozenset.intersection(*(taught[name] for name in names)) if names else frozenset()
        if possible:
            return sorted(possible)
    return []


@cache
def _taught(own: Path | None) -> dict[str, frozenset[str]]:
    """The lessons that have an exercise of that name, in this course or in another one."""
    taught: dict[str, set[str]] = defaultdict(set)
    for slug, lesson in syllabus().items():
        for exercise in lesson.exercises:
            taught[exercise.name].add(slug)
    return {name: frozenset(slugs) for name, slugs in taught.items()}


@cache
def _numbers_and_topics(own: Path | None) -> tuple[dict[int, str], dict[str, str]]:
    matches = [match for slug in syllabus() if (match := SLUG.fullmatch(slug))]
    return {int(match[1]): match[0] for match in matches}, {_squeezed(match[2]): match[0] for match in matches}


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)
