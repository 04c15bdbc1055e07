"""What the ways of handing out a course share: a folder that is whole or not there, and templates to fill in."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from autograder.authoring.tree import Course

CPU_TORCH = "--extra-index-url https://download.pytorch.org/whl/cpu torch"
"""For pip: the build without GPUs, whose version has a mark that goes before the other's of that number."""


class Placeholder(Template):
    """`@{name}`: workflows and shells have `$` of their own."""

    delimiter = "@"


def needs_torch(course: Course, slugs: Iterable[str]) -> bool:
    """Whether an exercise of these lessons imports PyTorch."""
    return any("torch" in environment.packages for slug in slugs for environment in course.lessons[slug].environments)


@contextmanager
def whole_or_none(folder: Path) -> Iterator[Path]:
    """A folder to fill, without what an interrupted run left there; it is gone where the block fails."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
