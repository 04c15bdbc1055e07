"""Writes README.md's figures and table of lessons for `backprop build`.

The numbers come from the syllabus, the links from `course/published.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from autograder.authoring.tree import AuthoringError, Course
from course.published import Published, published
from course.syllabus import Lesson

FIGURES = "<!-- the figures -->", "<!-- end of the figures -->"
LESSONS = "<!-- the lessons -->", "<!-- end of the lessons -->"
_ROW = re.compile(r"^\| (ch\d\d) \| .+? \| (?P<task>[^|]+) \| \d+ \| [\d.]+ \|$", re.MULTILINE)
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_UNPUBLISHED = (
    "This copy of the course does not say where its book is published, so these links lead to the sources of the\n"
    "chapters. To read a chapter as it is meant, type `backprop read ch06`, or build all of them with `make book`.\n"
    "If you publish the book, write its address into [published.toml](course/published.toml)."
)


def figures(lessons: Iterable[Lesson]) -> str:
    """Sentences with the numbers of exercises and hours."""
    lessons = list(lessons)
    exercises = [exercise for lesson in lessons for exercise in lesson.exercises]
    minutes = sum(lesson.minutes for lesson in lessons)
    core = sum(lesson.core_minutes for lesson in lessons)
    many = sum(exercise.tier == "core" for exercise in exercises)
    return (
        f"{len(lessons)} lessons, {len(exercises)} exercises, about {minutes / 60:.0f} hours with the reading.\n"
        f"The core, {many} exercises, takes about {core / 60:.0f} of them; the rest is for those who want all of it."
    )


def lesson_table(lessons: Iterable[Lesson], tasks: dict[str, str], places: Published) -> str:
    """The table of lessons, with a heading for each part.

    Args:
        tasks: what learners write in each lesson, by a key like `ch06`; `AuthoringError` if a lesson is missing.
    """
    rows = ["| | lesson | you write | minutes | points |", "| --- | --- | --- | ---: | ---: |"]
    part, numbered = "", 0
    for lesson in lessons:
        if lesson.part != part:
            part, numbered = lesson.part, numbered + 1
            heading = part[0].lower() + part[1:]
            rows.append(f"| | **Part {_ROMAN[numbered]}, {heading}** | | | |")
        short = lesson.slug.partition("_")[0]
        if short not in tasks:
            raise AuthoringError(
                f"README.md: the table of lessons needs a row | {short} | … | what one writes | 0 | 0 |"
            )
        link = f"[{lesson.title}]({places.page(lesson.slug) or f'book/{lesson.slug}.md'})"
        colab = f", [Colab]({places.colab(lesson.slug)})" if places.colab(lesson.slug) else ""
        rows.append(f"| {short} | {link}{colab} | {tasks[short]} | {lesson.minutes} | {lesson.points:g} |")
    return "\n".join(rows) if places.book else "\n".join([*rows, "", _UNPUBLISHED])


def up_to_date(text: str, lessons: Iterable[Lesson], places: Published) -> str:
    """README.md's text with current figures and table. `AuthoringError` if a mark is missing or appears twice."""
    lessons = list(lessons)
    tasks = {found[1]: found["task"] for found in _ROW.finditer(text)}
    text = _between(text, FIGURES, figures(lessons))
    return _between(text, LESSONS, lesson_table(lessons, tasks, places))


def _between(text: str, marks: tuple[str, str], new: str) -> str:
    begin, end = marks
    if text.count(begin) != 1 or text.count(end) != 1:
        raise AuthoringError(f"README.md: the marks {begin} and {end} must be there once each")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n\n{new}\n\n{end}{rest.partition(end)[2]}"


def file_of(course: Course) -> Path | None:
    """The README.md that lists this project's lessons; None if it is missing, and for a course of your own."""
    file = course.root / "README.md"
    return None if course.is_own or not file.is_file() else file


def with_row(text: str, slug: str) -> str:
    """README.md's text with a row for a new lesson, of which the author writes one column.

    `AuthoringError` if the table is missing.
    """
    short = slug.partition("_")[0]
    rows = list(_ROW.finditer(text))
    if not rows:
        raise AuthoringError("README.md has no row of the table of lessons")
    at = next((row.start() for row in rows if row[1] > short), rows[-1].end() + 1)
    return f"{text[:at]}| {short} | … | WRITE ME: what learners write | 0 | 0 |\n{text[at:]}"


def generated(course: Course) -> dict[Path, str]:
    """README.md with current figures and table; nothing if the course is another one or has no such file.

    `AuthoringError` if a mark or a lesson's row is missing.
    """
    file = file_of(course)
    if file is None:
        return {}
    return {file: up_to_date(file.read_text(encoding="utf-8"), course.lessons.values(), published())}
