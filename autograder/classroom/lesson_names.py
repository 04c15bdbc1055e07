"""Recognises lessons by a file's name, which students, browsers and platforms change, or by its content."""

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
"""`ch06`, `CH6`, `Chapter 6`, in lower case."""
SLUG = re.compile(r"ch(\d+)_(.+)")
SHAPED = re.compile(r"ch\d+_([a-z_]+)(?:\W.*)?")
"""A name in the form of a lesson's, with its words."""
ALIKE = 0.6
"""Similarity above which two topics count as the same topic with a typo."""
COPY = re.compile(r"(?:[-_ (]|copy)(\d{1,4})\)?$", re.IGNORECASE)
"""`(1)` of a browser, `-Copy1` of Jupyter, `-1` of Canvas."""
MOST_NAMES = 10_000
"""At most this many definitions of one file are looked at."""
DEFINITION = re.compile(r"^(?:def|class) +(\w+)", re.MULTILINE)
MARK = re.compile(rb'exercise"?[=:] *"([^"\\]+)"')
"""The course's mark on the cell of an exercise, in the bytes of a notebook or a Python file."""
WHOLE = 0.5
"""Share of a lesson's exercises from which on marks say that a file is that lesson, whatever its name."""


def lessons_named(stem: str) -> list[str]:
    """The lessons that a file's name may mean, by slug; none if it has the number of a chapter that is not a lesson.

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
    """Whether a name has the form of a lesson's and one lesson's number, but another topic: `ch06_homework`."""
    named, said = lessons_named(stem), SHAPED.fullmatch(stem.lower())
    if len(named) != 1 or said is None:
        return False
    words, topic = _squeezed(said[1]), _squeezed(named[0].partition("_")[2])
    return not (topic in words or topic.startswith(words) or SequenceMatcher(None, topic, words).ratio() > ALIKE)


def another_lesson(stem: str, cells: Sequence[Cell]) -> str:
    """Why a file belongs to another course, though its name has a lesson's number; empty if it may be that lesson.

    `ch01_power_iteration` is not `ch01_computation_graph` if all its exercises are another course's. If it contains one
    of this course's exercises, or no definitions, the words after the number are taken to be the student's.
    """
    held = _marked(cells) or set(islice(_defined(cells), MOST_NAMES))
    if not held or not has_other_words(stem) or held & _taught(own_course()).keys():
        return ""
    (named,) = lessons_named(stem)
    there = f"its {named[:4]} is {named}, and the file holds no exercise of the course"
    return f"this course has no lesson {clean(stem, 80)}: {there}"


def copy_number(stem: str) -> int:
    """The copy number in a file's name: 2 for `ch06_vjps (2)`, 0 if there is none."""
    match = COPY.search(NUMBERED.sub("", stem.lower()))  # a chapter's number is not a copy's
    return int(match[1]) if match else 0


def lessons_within(cells: Sequence[Cell]) -> list[str]:
    """The lessons that have all exercises of the cells, by the course's marks on them, or else by what they define.

    Nothing is run. Only the first `MOST_NAMES` definitions are looked at.
    """
    taught = _taught(own_course())
    defined = set(islice(_defined(cells), MOST_NAMES))
    for names in (_marked(cells) & taught.keys(), defined & taught.keys()):
        possible = frozenset.intersection(*(taught[name] for name in names)) if names else frozenset()
        if possible:
            return sorted(possible)
    return []


def has_marks_of_others(named: str, data: bytes) -> bool:
    """Whether a file has marks of exercises, and none of the lesson that its name says. Nothing is parsed."""
    marks = {mark.decode(errors="replace") for mark in MARK.findall(data)}
    return bool(marks) and not any(named in slugs for name, slugs in _taught(own_course()).items() if name in marks)


def another_lesson_within(named: str, cells: Sequence[Cell]) -> str:
    """The lesson that a file holds under another one's name; empty if its name may be right.

    At least half of that lesson's exercises are marked in it, and it neither marks nor defines one of the named lesson.
    """
    within, marked = lessons_within(cells), _marked(cells)
    held = marked | set(islice(_defined(cells), MOST_NAMES))
    if len(within) != 1 or any(one.name in held for one in syllabus()[named].exercises):
        return ""
    exercises = [one.name for one in syllabus()[within[0]].exercises]
    return within[0] if len(marked & set(exercises)) >= WHOLE * len(exercises) else ""


def _marked(cells: Sequence[Cell]) -> set[str]:
    """The exercises that cells are marked with."""
    return {cell.exercise for cell in cells if cell.exercise}


def _defined(cells: Sequence[Cell]) -> Iterator[str]:
    """The functions and classes that cells define at the top level."""
    return (match[1] for cell in cells for match in DEFINITION.finditer(cell.source))


@cache
def _taught(own: Path | None) -> dict[str, frozenset[str]]:
    """By exercise: the lessons that have it. `own`, the course being served, is the cache's key."""
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
