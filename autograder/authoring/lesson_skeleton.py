"""Creates the files of a new lesson with its first exercise, or of a new course with its first lesson."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from autograder.authoring import readme
from autograder.authoring.contracts import HEADER
from autograder.authoring.skeleton import ENTRY, SECTION, cells_of, exercise_files, written_or_nothing
from autograder.authoring.syllabus_text import before_lesson
from autograder.authoring.tree import AuthoringError, Course
from autograder.places import ROOT, Places
from autograder.toml_text import toml_value
from course.own import FILE
from course.syllabus import OWN_SLUG

OUR_FOLDERS = ("autograder", "course", "solutions", "exercises", "book", "tests", "benchmarks")

LESSON = """\
[[lesson]]
slug = "{slug}"
title = {title}
part = {part}
minutes = 60  # WRITE ME: a reader's minutes, exercises included
packages = ["numpy"]
modules = []

"""
SOURCE = """\
# %% [markdown]
# # {title}
#
# WRITE ME: what the lesson is about, in two sentences; then what holds for all exercises: dtypes, shapes, libraries.
{along}
# %%
import numpy as np

"""
ALONG = "# Read along in the [chapter](../book/{slug}.md).\n"
COURSE = """\
# The course: its lessons, their exercises, points and hints. docs/own-course.md says what the files beside it are.

title = {title}

"""
IGNORED = "__pycache__/\nanswers.book\n"
CHAPTER = """\
---
file_format: mystnb
kernelspec: {{name: python3, display_name: Python 3}}
---

```{{code-cell}} python3
:tags: [remove-cell]
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import numpy as np
from myst_nb import glue

from course.figures import style
from course.pages import exercise_table

style()
```

({number})=
# {title}

:::{{admonition}} TL;DR
:class: tip
WRITE ME: two sentences that answer none of the chapter's questions.
:::

## Why it matters

WRITE ME: a question or code that fails; a picture within the first screen.

## Objectives

WRITE ME: what readers can do afterwards; the chapter teaches each, shows it in code, and asks for it.

## The mechanism

{section}\
## Something to break

WRITE ME: code to break. Readers predict what happens, then run it.

## Checkpoint questions

WRITE ME: at most two quizzes; put all others where their idea is explained.

## Key takeaways

WRITE ME: a list of what to remember.

## Exercises

Open your `{slug}.ipynb`. `check("name")` under each exercise names your mistake if it can, and otherwise shows the
smallest case that fails.

```{{code-cell}} python3
:tags: [remove-input]
:mystnb:
:  markdown_format: myst
exercise_table("{slug}")
```

## Next up

WRITE ME: what this leads to.
"""


def new_lesson(
    course: Course, slug: str, name: str, *, title: str = "", part: str = "", tier: str = "core"
) -> list[Path]:
    """Create a lesson with its first exercise, and return the files written.

    Args:
        title: made of the slug if not given.
        part: the part of the course; if not given, that of the lesson before it.

    Raises:
        AuthoringError: the lesson cannot be created; then nothing is written.
    """
    _refuse_slug(slug)
    clash = next((other for other in course.lessons if other[:4] == slug[:4]), None)
    if clash is not None:
        raise AuthoringError(f"{slug[:4]} is {clash} already; give the lesson another number")
    title = _line(title) or _title(slug)
    earlier = [lesson for lesson in course.lessons.values() if lesson.slug < slug]
    later = next((lesson for lesson in course.lessons if lesson > slug and course.of(lesson) is course), "")
    part = _line(part) or (earlier[-1].part if earlier else title)
    new = _lesson_files(course, slug, name, title, has_chapter=course.chapters.is_dir(), tier=tier)
    entries = _entries(slug, name, title, part, tier)
    changed = {course.syllabus: before_lesson(course.syllabus.read_text(encoding="utf-8"), later, entries)}
    contents = course.chapters / "_toc.yml"
    if contents.is_file():
        listed = _with_chapter(contents.read_text(encoding="utf-8"), slug, earlier[-1].slug if earlier else "", later)
        if listed is None:
            raise AuthoringError(f"{course.relative(contents)} lists no chapter of the lesson before or after {slug}")
        changed[contents] = listed
    table = readme.file_of(course)
    if table is not None:
        changed[table] = readme.with_row(table.read_text(encoding="utf-8"), slug)
    return written_or_nothing(course, changed, new)


def new_course(folder: Path, slug: str, name: str, *, title: str = "", part: str = "", tier: str = "core") -> Course:
    """Create a course with one lesson and one exercise, in a folder that does not exist or is empty.

    Raises:
        AuthoringError: the course cannot be created; then nothing is written.
    """
    _refuse_slug(slug)
    place = folder.resolve()
    ours = next((ROOT / one for one in OUR_FOLDERS if place.is_relative_to(ROOT / one)), None)
    if ours is not None:
        raise AuthoringError(f"{folder} lies in {ours}, which is the grader's own; begin your course elsewhere")
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise AuthoringError(f"{folder} is there already, and not empty; a course begins in a new folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        begun.chmod(0o755)
        topic = _title(slug)
        head = COURSE.format(title=toml_value(_line(title) or _title(place.name) or topic))
        (begun / FILE).write_text(head + _entries(slug, name, topic, _line(part) or topic, tier), encoding="utf-8")
        (begun / ".gitignore").write_text(IGNORED, encoding="utf-8")
        places = Course(begun)
        written_or_nothing(places, {}, _lesson_files(places, slug, name, topic, has_chapter=False, tier=tier))
        begun.rename(place)  # replaces an empty folder
    except BaseException:
        shutil.rmtree(begun, ignore_errors=True)
        raise
    return Course.at(place)


def _refuse_slug(slug: str) -> None:
    if not OWN_SLUG.fullmatch(slug):
        raise AuthoringError(f"a lesson is called by a number and a topic, as ch15_kernels; {slug!r} is not")


def _line(text: str) -> str:
    """A title as it was typed, on one line. `AuthoringError` if it is not UTF-8."""
    try:
        return " ".join(text.encode().decode().split())
    except UnicodeEncodeError:
        raise AuthoringError(f"{text!a} has bytes that are no UTF-8; type that title or part again") from None


def _title(name: str) -> str:
    """A name in words: "Fused kernels" of `ch15_fused_kernels`."""
    words = re.sub(r"[\W_]+", " ", re.sub(r"^ch\d\d_", "", name)).strip()
    return words[:1].upper() + words[1:]


def _entries(slug: str, name: str, title: str, part: str, tier: str) -> str:
    lesson = LESSON.format(slug=slug, title=toml_value(title), part=toml_value(part))
    return lesson + ENTRY.format(name=name, tier=tier)


def _lesson_files(places: Places, slug: str, name: str, title: str, *, has_chapter: bool, tier: str) -> dict[Path, str]:
    """The files of a lesson that an author goes on to write, with their initial text."""
    words, files = exercise_files(places, slug, name, tier=tier, has_chapter=has_chapter)
    along = ALONG.format(slug=slug) if has_chapter else ""
    source = SOURCE.format(title=title, along=along) + cells_of(name).format(**words).rstrip("\n") + "\n"
    files = {places.source(slug): source, **files, places.contract(slug): HEADER.format(slug=slug)}
    if has_chapter:
        section = SECTION.format(**words)
        files[places.chapter(slug)] = CHAPTER.format(slug=slug, number=slug[:4], title=title, section=section)
    return files


def _with_chapter(text: str, slug: str, earlier: str, later: str) -> str | None:
    """A book's table of contents with the chapter `slug` beside a neighbour; None if it lists neither neighbour."""
    lines = text.splitlines(keepends=True)
    for neighbour, offset in ((earlier, 1), (later, 0)):
        for i, line in enumerate(lines):
            if neighbour and line.strip() == f"- file: {neighbour}":
                own = line.replace(neighbour, slug)
                return "".join([*lines[: i + offset], own, *lines[i + offset :]])
    return None
