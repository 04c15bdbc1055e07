"""Copies a lesson of this course into a course that extends it, where it can get other exercises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autograder.authoring.syllabus_text import before_lesson, entry_of
from autograder.authoring.tree import Course
from autograder.places import OWN_LESSONS, ROOT, Places
from course.syllabus import read_syllabus

NOT_TAKEN = ("rejections.toml", "*.book", "*.pyc", "answers/*")
"""Files that are not copied: `backprop build` and `backprop release` write them."""


@contextmanager
def taken_over(course: Course, slug: str) -> Iterator[Course]:
    """Copy a lesson of the extended course into `course` and yield the result; undo that if the block raises.

    All files of the lesson and its entry in the syllabus are copied. Imports among its modules lead to the copies.
    """
    texts = _copies(course, slug)
    listed = course.syllabus.read_bytes()
    folders = [folder for path in texts for folder in reversed(path.parents) if not folder.exists()]
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield Course.at(course.root)
    except BaseException:
        course.syllabus.write_bytes(listed)
        for path in texts.keys() - {course.syllabus}:
            path.unlink(missing_ok=True)
        for folder in reversed(list(dict.fromkeys(folders))):
            with suppress(OSError):
                folder.rmdir()
        raise


def _copies(course: Course, slug: str) -> dict[Path, str]:
    """The text of each file to write, the syllabus among them."""
    ours = Places(ROOT)
    folder = course.root / OWN_LESSONS / slug
    copied = {folder / file.relative_to(ours.folder(slug)): file for file in _sources(ours.folder(slug))}
    copied[course.solutions / f"{slug}.py"] = ours.source(slug)
    copied[course.chapters / f"{slug}.md"] = ours.chapter(slug)
    texts = {path: file.read_text(encoding="utf-8") for path, file in copied.items()}
    for path in texts:
        if path.suffix == ".py":
            texts[path] = re.sub(rf"\bautograder\.{OWN_LESSONS}\.{slug}\b", f"{OWN_LESSONS}.{slug}", texts[path])
    later = next((one for one in course.lessons if one > slug and course.of(one) is course), "")
    entry = entry_of(ours.syllabus.read_text(encoding="utf-8"), slug)
    minutes = read_syllabus(ours.syllabus)[slug].minutes  # computed from our chapter; a course of its own writes them
    entry = re.sub(r"^part = .*\n", rf"\g<0>minutes = {minutes}\n", entry, count=1, flags=re.MULTILINE)
    texts[course.syllabus] = before_lesson(course.syllabus.read_text(encoding="utf-8"), later, entry)
    return texts


def _sources(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not any(file.relative_to(folder).match(pattern) for pattern in NOT_TAKEN):
            yield file
