"""The labels of a chapter's source and the sections that they stand on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.places import Places
from course.syllabus import Exercise, syllabus

_LABEL = re.compile(r"^\(([\w-]+)\)=$")
_HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True)
class Section:
    """A heading of a chapter with all that stands under it, deeper headings included."""

    label: str
    title: str
    lines: tuple[str, ...]
    """Its source, from the heading on."""


def sections(chapter: str) -> dict[str, Section]:
    """The sections of a chapter's source that have a label, in its order, by label.

    A line of code that looks like a heading is none.
    """
    lines = chapter.splitlines()
    headings = _headings(lines)
    found = {}
    for number, (start, level, title) in enumerate(headings):
        end = next((later for later, deep, _ in headings[number + 1 :] if deep <= level), len(lines))
        end = _first_label(lines, end)  # those labels belong to the heading below them
        for line in lines[_first_label(lines, start) : start]:
            label = line[1:].partition(")")[0]
            found[label] = Section(label, title, tuple(lines[start:end]))
    return found


def _first_label(lines: list[str], heading: int) -> int:
    """The line where the labels above a heading begin; its own line if it has none."""
    start = heading
    while start and _LABEL.match(lines[start - 1]):
        start -= 1
    return start


def _headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """Line, level and text of each heading outside of fenced code."""
    found = []
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.match(line):
            found.append((number, len(heading[1]), heading[2]))
    return found


def below_the_title(lines: list[str]) -> int:
    """The line below a chapter's title; a comment in a cell above it is none."""
    return _headings(lines)[0][0] + 1


def book(places: Places) -> dict[str, dict[str, Section]]:
    """The labelled sections of all chapters, by lesson; a chapter that is not installed has none."""
    files = {slug: places.chapter(slug) for slug in syllabus()}
    return {slug: sections(file.read_text(encoding="utf-8")) if file.is_file() else {} for slug, file in files.items()}


def title_of(exercise: Exercise) -> str:
    """The heading of the section that teaches an exercise, as plain text; "" where its chapter is not installed."""
    file = Places().chapter(exercise.lesson)
    found = sections(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found[exercise.anchor].title.replace("`", "") if exercise.anchor in found else ""
