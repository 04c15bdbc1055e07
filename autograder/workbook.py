"""A learner's own copy of the notebooks."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from autograder.places import Places
from course.syllabus import Lesson, syllabus

PLACES = Places()
FORMATS = ("ipynb", "py")


def copy_lessons(folder: Path, format_: str, lessons: Iterable[Lesson] | None = None) -> tuple[list[Path], list[Path]]:
    """Copy the notebooks of lessons, of all if none are named, into `folder`, as `ipynb` or as a `py` file in cells.

    Returns the files that are new and those that were there and stay. `OSError` if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copied, kept = [], []
    for lesson in syllabus().values() if lessons is None else lessons:
        file = folder / f"{lesson.slug}.{format_}"
        if file.exists():
            kept.append(file)
            continue
        file.write_text(_text(lesson, folder, format_), encoding="utf-8")
        copied.append(file)
    return copied, kept


def chapter(slug: str, folder: Path) -> str:
    """Where a chapter is, for a link in `folder`: its page if the book is built, else its source; "" without a book."""
    page = PLACES.pages / f"{slug}.html"
    file = page if page.exists() else PLACES.chapter(slug)
    if not file.exists():
        return ""
    try:
        return os.path.relpath(file, folder.resolve()).replace(os.sep, "/")
    except ValueError:  # on Windows, another drive
        return file.as_uri()


def _text(lesson: Lesson, folder: Path, format_: str) -> str:
    """The stub, its links to the chapters leading there from `folder`; beside `exercises/` they do already."""
    text = PLACES.notebook(lesson.slug).read_text(encoding="utf-8")
    link = r"\[([^][\n]*)\]\(\.\./book/(\w+)\.md([^)\n]*)\)"
    text = re.sub(link, lambda match: _link(folder, *match.groups()), text)
    return text if format_ == "ipynb" else as_python(text)


def _link(folder: Path, words: str, slug: str, place: str) -> str:
    """A link to a place in a chapter; where there is no book to lead to, what its page is called."""
    file = chapter(slug, folder)
    return f"[{words}]({file}{place})" if file else f"{words} ({slug}.html{place})"


def as_python(notebook: str) -> str:
    """A notebook's text as a py:percent file, with the tags that the grader reads."""
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
