"""Which lesson a file is: by its name, which learners, browsers and learning platforms change, or by what is in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import islice
from pathlib import Path

from autograder.submission import Cell
from autograder.wording import clean
from course.own import own_course
from course.syllabus import syllabus

NUMBERED = re.compile(r"(?<![a-z])ch(?:apter)?[\W_]*0*(\d+)")
"""`ch06`, `CH6`, `Chapter 6`, in small letters."""
SLUG = re.compile(r"ch(\d+)_(.+)")
SHAPED = re.compile(r"ch\d+_([a-z_]+)(?:\W.*)?")
"""What looks like a lesson's name, and the words in it."""
ALIKE = 0.6
"""How much of two topics is the same where one is the other with a slip."""
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


def has_other_words(stem: str) -> bool:
    """Whether a name is made as a lesson's is, has the number of one lesson, and other words: `ch06_homework`."""
    named, said = lessons_named(stem), SHAPED.fullmatch(stem.lower())
    if len(named) != 1 or said is None:
        return False
    words, topic = _squeezed(said[1]), _squeezed(named[0].partition("_")[2])
    return not (topic in words or topic.startswith(words) or SequenceMatcher(None, topic, words).ratio() > ALIKE)


def another_lesson(stem: str, cells: Sequence[Cell]) -> str:
    """Why a file is no lesson of this course, though its name has the number of one; empty if it may be that one.

    `ch01_power_iteration` is not `ch01_computation_graph` where its exercises are another course's, too. Where it holds
    one of this course, or nothing at all, the words after the number are the student's.
    """
    held = _marked(cells) or set(islice(_defined(cells), MOST_NAMES))
    if not held or not has_other_words(stem) or held & _taught(own_course()).keys():
        return ""
    (named,) = lessons_named(stem)
    there = f"its {named[:4]} is {named}, and the file holds no exercise of the course"
    return f"this course has no lesson {clean(stem, 80)}: {there}"


def copy_number(stem: str) -> int:
    """Which copy a name says that its file is: 2 for `ch06_vjps (2)`, 0 for a name that says nothing."""
    match = COPY.search(NUMBERED.sub("", stem.lower()))  # the number of a chapter is none of a copy
    return int(match[1]) if match else 0


def lessons_within(cells: Sequence[Cell]) -> list[str]:
    """The lessons that exercises could all be of: by the course's marks on cells, else by what they define.

    Nothing is run. Of a file that defines a million names the first are looked at.
    """
    taught = _taught(own_course())
    defined = set(islice(_defined(cells), MOST_NAMES))
    for names in (_marked(cells) & taught.keys(), defined & taught.keys()):
        possible = frozenset.intersection(*(taught[name] for name in names)) if names else frozenset()
        if possible:
            return sorted(possible)
    return []


def _marked(cells: Sequence[Cell]) -> set[str]:
    """The exercises that cells are marked with."""
    return {cell.exercise for cell in cells if cell.exercise}


def _defined(cells: Sequence[Cell]) -> Iterator[str]:
    """The functions and classes that cells define at their left margin."""
    return (match[1] for cell in cells for match in DEFINITION.finditer(cell.source))


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
