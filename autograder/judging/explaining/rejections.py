"""Which visible checks reject which known mistake: written down, so that a search for a name runs few of them.

Visible inputs are the same for everyone, so what a known mistake fails on them is known before anybody answers, and an
answer that fails elsewhere is another mistake. `backprop build` writes the file, health rules compare it with what the
checks say, and here it counts only for the text that it was made of. It decides no points.
"""

from __future__ import annotations

import hashlib
import tomllib
from typing import Any

from autograder.places import Places

REJECTED, ACCEPTED = "x", "."
Rejections = dict[tuple[str, str], frozenset[str]]
"""By exercise and known mistake, the names of the visible checks that reject it."""


def digest(places: Places, slug: str) -> str:
    """A hash of the lesson's solution and modules, which decide what checks see of a known mistake.

    Without their comments, of which the notebook's text is made.
    """
    found = hashlib.sha256()
    folder = places.folder(slug)
    for file in (places.source(slug), *sorted(folder.rglob("*.py"))):
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
        lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
        code = [line for line in lines if line and not line.startswith("#")]
        found.update("\n".join([name, *code, ""]).encode())
    return found.hexdigest()[:16]


def is_of(places: Places, slug: str) -> bool:
    """Whether the lesson's file is there, and was made of the text that there is now."""
    return bool(_content(places, slug))


def written(places: Places, slug: str) -> Rejections:
    """What the lesson's file says; nothing where there is none, or one that was made of another text."""
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
