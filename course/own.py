"""Determines which course a process serves: this one, or a folder with a `backprop-course.toml`.

Commands decide that once, when they start, and tell their child processes by the variable `BACKPROP_COURSE`. Processes
that run submissions do not get the variable.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

VARIABLE = "BACKPROP_COURSE"
FILE = "backprop-course.toml"
"""The file that makes a folder a course and lists its lessons. In a learner's folder, its `course` is a path to one."""
OURS = "backprop"
"""The name of this course, for options and files that can name another one."""

_served: ContextVar[Path | None] = ContextVar("served")


class CourseError(ValueError):
    """There is no such course; the message says where it was expected, and what to do."""


def own_course() -> Path | None:
    """The folder of the course that this process serves; None if it serves this one."""
    try:
        return _served.get()
    except LookupError:
        named = os.environ.get(VARIABLE, "")
        return _named(named) if named else None


def serve(course: Path | None) -> None:
    """Serve `course` from now on, in this process and in those that it starts; None means this course."""
    os.environ[VARIABLE] = OURS if course is None else str(course)


@contextmanager
def serving(course: Path | None) -> Iterator[None]:
    """Serve a course inside the block, in this thread only: a worker process of a cluster serves several courses."""
    token = _served.set(course)
    try:
        yield
    finally:
        _served.reset(token)


def course_named(name: str) -> Path | None:
    """The folder of the course called `name`; None for `backprop`.

    Args:
        name: the path of the folder, of its `backprop-course.toml`, or of a file or folder that leads to it.

    Raises:
        CourseError: there is no such course.
    """
    if name == OURS:
        return None
    file = Path(os.path.abspath(name))
    if file.is_dir():
        file /= FILE
    if file.name != FILE or not file.is_file():
        raise CourseError(f"{name} is no course: it has no {FILE} (examples/linear_algebra is one to copy)")
    leads_to = _content(file).get("course")
    if leads_to is None:
        return Path(os.path.realpath(file.parent))
    there = file.parent / leads_to if isinstance(leads_to, str) else None
    if there is None or not (there / FILE).is_file():
        raise CourseError(f"{file} says that the course is in {leads_to!r}, and there is no {FILE}; mend that line")
    if "course" in _content(there / FILE):
        raise CourseError(f"{file} leads to {there / FILE}, which leads on; name the course's own folder there")
    return Path(os.path.realpath(there))


def file_upwards(folder: Path) -> Path | None:
    """The nearest `backprop-course.toml` in a folder or above it; None if there is none.

    Raises:
        CourseError: it belongs to another user, who may have put it into a folder that everybody can write to.
    """
    for place in (folder, *folder.parents):
        file = place / FILE
        if file.is_file():
            if hasattr(os, "geteuid") and file.stat().st_uid not in (os.geteuid(), 0):
                raise CourseError(f"{file} is another user's; if you trust that course, name it: --course {place}")
            return file
    return None


def title_of(course: Path | None) -> str:
    """The title of a course, on one line. `CourseError` if it has none."""
    if course is None:
        return "Backprop, by hand"
    title = _content(course / FILE).get("title")
    if not isinstance(title, str) or not title.strip():
        raise CourseError(f'{course / FILE}: title is missing; write title = "..." at its top')
    return " ".join(title.split())


@cache
def extends_ours(course: Path) -> bool:
    """Whether a course declares that it extends this one. `CourseError` if it names another."""
    extends = _content(course / FILE).get("extends")
    if extends not in (None, OURS):
        raise CourseError(f"{course / FILE}: extends can be {OURS!r} alone, and is {extends!r}")
    return extends == OURS


@cache
def _named(name: str) -> Path | None:
    return course_named(name)


def _content(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{file} cannot be read ({getattr(error, 'strerror', None) or 'it is no UTF-8'})") from None
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{file} is no TOML: {error}") from None
    except RecursionError:
        raise CourseError(f"{file} is no TOML that can be read: it is nested too deeply") from None
