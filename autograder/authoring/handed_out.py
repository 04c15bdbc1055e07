"""Helpers of all releases: a folder that is written completely or removed, and templates to fill in."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from autograder.authoring.tree import Course

CPU_TORCH = "--extra-index-url https://download.pytorch.org/whl/cpu torch"
"""Arguments that make pip choose the CPU build of PyTorch: its local version, `+cpu`, sorts after PyPI's plain one."""


class Placeholder(Template):
    """A template with placeholders like `@{name}`, because workflows and shell scripts use `$` themselves."""

    delimiter = "@"


def needs_torch(course: Course, slugs: Iterable[str]) -> bool:
    """Whether an exercise of these lessons needs PyTorch."""
    return any("torch" in environment.packages for slug in slugs for environment in course.lessons[slug].environments)


@contextmanager
def whole_or_none(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill, after removing what an interrupted run left there; remove it if the block raises."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
