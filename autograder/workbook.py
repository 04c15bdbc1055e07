"""Copies the course's notebooks into a learner's folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from autograder.new_files import refuse_way_out, write_new
from autograder.places import Places
from autograder.toml_text import toml_value
from course.own import FILE, own_course
from course.syllabus import Lesson, syllabus

LEADS_BACK = """\
# The course of these notebooks: commands that are typed here, and the checks of a notebook, find it by this file.
course = {course}
"""
FORMATS = ("ipynb", "py")


def copy_lessons(folder: Path, format_: str, lessons: Iterable[Lesson] | None = None) -> tuple[list[Path], list[Path]]:
    """Copy the notebooks of `lessons`, or of all lessons if None, into `folder`.

    If the served course is your own, a `backprop-course.toml` that leads to it is written too.

    Args:
        format_: `ipynb`, or `py` for Python files in cells.

    Returns:
        The new files, and those that existed and were kept.

    Raises:
        OSError: the folder cannot be written, a link leads there out of the working directory, or a symbolic link has
            the name of a new file.
    """
    refuse_way_out(folder)
    folder.mkdir(parents=True, exist_ok=True)
    own = own_course()
    if own is not None and not (folder / FILE).exists():
        write_new(folder / FILE, leads_back(folder, own), inside=folder)
    copied, kept = [], []
    for lesson in syllabus().values() if lessons is None else lessons:
        file = folder / f"{lesson.slug}.{format_}"
        if file.exists():
            kept.append(file)
            continue
        text = Places().notebook(lesson.slug).read_text(encoding="utf-8")  # its links are absolute
        write_new(file, text if format_ == "ipynb" else as_python(text), inside=folder)
        copied.append(file)
    return copied, kept


def leads_back(folder: Path, course: Path) -> str:
    """The text of a file in `folder` that leads to `course`: by a relative path if both have a parent in common."""
    place = Path(os.path.realpath(folder))
    together = course.is_relative_to(place.parent)
    way = Path(os.path.relpath(course, place) if together else course).as_posix()
    return LEADS_BACK.format(course=toml_value(way))


def as_python(notebook: str) -> str:
    """Convert a notebook's text to a py:percent file, with the metadata that the grader reads."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        metadata = cell["metadata"]
        if cell["cell_type"] == "markdown":
            lines = "\n".join(f"# {line}".rstrip() for line in source.splitlines())
            parts.append(f"# %% [markdown]\n{lines}\n")
            continue
        options = f' exercise="{metadata["exercise"]}"' if "exercise" in metadata else ""
        options += f' part="{metadata["part"]}"' if "part" in metadata else ""
        if metadata.get("tags"):
            options += f" tags={json.dumps(metadata['tags'])}"
        parts.append(f"# %%{options}\n{source}\n")
    return "\n".join(parts)
