"""Which lesson a file is: by its name, which learners, browsers and learning platforms change, or by what is in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from autograder.submission import Cell
from course.syllabus import syllabus

NUMBERED = re.compile(r"(?<![a-z])ch(?:apter)?[\W_]*0*(\d+)")
"""`ch06`, `CH6`, `Chapter 6`, in small letters."""
SLUG = re.compile(r"ch(\d+)_(.+)")
COPY = re.compile(r"(?:[-_ (]|copy)(\d{1,4})\)?$", re.IGNORECASE)
"""`(1)` of a browser, `-Copy1` of Jupyter, `-1` of Canvas."""
DEFINITION = re.compile(r"^(?:def|class) +(\w+)", re.MULTILINE)


def lessons_named(stem: str) -> list[str]:
    """The lessons that a file's name could mean, by slug; none where it names a chapter that is no lesson.

    A name means a lesson by its number (`ch06`, `Chapter 6`) or its topic (`vjps`), and may mean several.
    """
    if stem in syllabus():
        return [stem]
    text = stem.lower()
    numbers, topics = _numbers_and_topics()
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

    Nothing is run.
    """
    marked = {cell.exercise for cell in cells if cell.exercise}
    defined = {name for cell in cells for name in DEFINITION.findall(cell.source)}
    for names in (marked, defined):
        taught = [
            {lesson.slug for lesson in syllabus().values() if any(one.name == name for one in lesson.exercises)}
            for name in names
        ]
        possible = set.intersection(*known) if (known := [slugs for slugs in taught if slugs]) else set()
        if possible:
            return sorted(possible)
    return []


@cache
def _numbers_and_topics() -> tuple[dict[int, str], dict[str, str]]:
    matches = [match for slug in syllabus() if (match := SLUG.fullmatch(slug))]
    return {int(match[1]): match[0] for match in matches}, {_squeezed(match[2]): match[0] for match in matches}


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)
