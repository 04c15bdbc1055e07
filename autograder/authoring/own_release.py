"""Writes the part of a release that comes from a course of your own: its lessons without their answers."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from autograder.authoring.tree import Course
from autograder.places import OWN_LESSONS, Places
from autograder.toml_text import toml_key, toml_table, toml_value
from course.own import FILE

FOLDER = "own-course"
"""The course's folder in a release, beside the grader."""
TRUST = f"{'backprop trust':31}# once: what you unpack is not followed unasked\n"
"""A line of the release's README: the file that leads to the course came with the release, so it is not trusted."""
LEADS_THERE = """\
# The course of this folder: commands that are typed here find it by this file.
course = {folder}
"""


def lead_to(folder: Path, there: str) -> None:
    """Write the file by which commands typed in `folder` find the course in `there`, a path relative to `folder`."""
    (folder / FILE).write_text(LEADS_THERE.format(folder=toml_value(there)), encoding="utf-8")


def write_own(
    course: Course, folder: Path, slugs: Iterable[str], left_out: Callable[[str, list[str]], set[str]]
) -> Places:
    """Write the course with these lessons into the new `folder`, without answer books.

    Args:
        left_out: the `ignore` function for `shutil.copytree` of the folder of lessons.
    """
    wanted = list(slugs)
    known = {f"{slug[:4]}/{one.name}" for slug in wanted for one in course.lessons[slug].whole.exercises}
    folder.mkdir()
    raw = tomllib.loads(course.syllabus.read_text(encoding="utf-8"))
    (folder / FILE).write_text(released_syllabus(raw, set(wanted), known), encoding="utf-8")
    if (course.root / "published.toml").is_file():
        shutil.copy(course.root / "published.toml", folder)
    released = Places(folder)
    released.notebooks.mkdir()
    if course.lessons_folder.is_dir():
        shutil.copytree(course.lessons_folder, folder / OWN_LESSONS, ignore=left_out)
    for slug in wanted:
        shutil.copy(course.notebook(slug), released.notebooks)
        released.answer_book(slug).parent.mkdir(parents=True, exist_ok=True)
        if course.of(slug) is course and course.chapter(slug).is_file():
            released.chapters.mkdir(exist_ok=True)
            shutil.copy(course.chapter(slug), released.chapters)
    return released


def released_syllabus(raw: dict[str, Any], slugs: set[str], exercises: set[str]) -> str:
    """The text of `backprop-course.toml` for these lessons alone, without comments and `why`, which explains solutions.

    Args:
        exercises: those of all released lessons, the extended course's too, like `ch06/relu_vjp`.
    """
    head = {key: raw[key] for key in ("title", "extends") if key in raw}

    def known(name: str) -> bool:
        return f"{name[:4]}/{name.partition('/')[2]}" in exercises

    gone = [name for name in raw.get("without", []) if known(name)]
    parts = [toml_table(head | ({"without": gone} if gone else {}))]
    for name, entry in raw.get("change", {}).items():
        if known(name):
            parts.append(f"[change.{toml_key(name)}]\n{toml_table(entry)}")
    if "forbidden" in raw:
        parts.append(f"[forbidden]\n{toml_table(raw['forbidden'])}")
    for lesson in raw.get("lesson", []):
        if lesson["slug"] in slugs:
            parts.append(f"[[lesson]]\n{toml_table({key: lesson[key] for key in lesson if key != 'exercise'})}")
            for exercise in lesson["exercise"]:
                shown = {key: exercise[key] for key in exercise if key != "why"}
                parts.append(f"[[lesson.exercise]]\n{toml_table(shown)}")
    return "\n".join(parts)
