"""Reads `rejections.toml`: which visible checks reject which known mistake, so that a search runs few of them.

Visible inputs are the same for everyone, so this can be computed in advance, and an answer that fails other checks has
another mistake. `backprop build` writes the file, the health rules verify it, and it is ignored once the lesson's code
has changed. It does not affect points.
"""

from __future__ import annotations

import hashlib
import tomllib
from typing import Any

from autograder.places import Places

REJECTED, ACCEPTED = "x", "."
Rejections = dict[tuple[str, str], frozenset[str]]
"""By exercise and known mistake: names of the visible checks that reject it."""


def digest(places: Places, slug: str) -> str:
    """Hash of the lesson's solution, modules and rows of kinds, which decide what checks see of a known mistake.

    Comments are left out: they only affect the notebook's text.
    """
    found = hashlib.sha256()
    folder = places.folder(slug)
    drawn = [file for file in (places.covering(slug),) if file.is_file()]
    for file in (places.source(slug), *drawn, *sorted(folder.rglob("*.py"))):
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
        lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
        code = [line for line in lines if line and not line.startswith("#")]
        found.update("\n".join([name, *code, ""]).encode())
    return found.hexdigest()[:16]


def is_of(places: Places, slug: str) -> bool:
    """Whether the lesson's file exists and matches the lesson's current code."""
    return bool(_content(places, slug))


def written(places: Places, slug: str) -> Rejections:
    """The contents of the lesson's file; empty if it is missing or out of date."""
    return {
        (exercise["name"], mistake): frozenset(
            name for name, mark in zip(exercise["checks"], marks, strict=True) if mark == REJECTED
        )
        for exercise in _content(places, slug).get("exercise", ())
        for mistake, marks in exercise["rejected"].items()
    }


def _content(places: Places, slug: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(places.rejections(slug).read_text(encoding="utf-8"))
    except (FileNotFoundError, tomllib.TOMLDecodeError):
        return {}
    return content if content.get("of") == digest(places, slug) else {}
