"""Reads and inserts lessons in the text of a syllabus, so that the author's comments and layout stay."""

from __future__ import annotations

import re

from autograder.authoring.tree import AuthoringError


def before_lesson(text: str, later: str, entries: str) -> str:
    """The text with `entries` inserted before the lesson `later`, or at the end if `later` is "" or not listed."""
    parts = _parts(text)
    at = next((i for i, part in enumerate(parts) if later and _lists(part, later)), len(parts))
    before, after = "".join(parts[:at]).rstrip("\n"), "".join(parts[at:])
    apart = "\n\n" if at == len(parts) else "\n"
    return f"{before}\n{apart}{entries.strip()}\n" + (f"\n{after}" if after else "")


def entry_of(text: str, slug: str) -> str:
    """The text of a lesson's entry. `AuthoringError` if there is none."""
    for part in _parts(text):
        if _lists(part, slug):
            return part
    raise AuthoringError(f'the syllabus has no line slug = "{slug}"')


def _parts(text: str) -> list[str]:
    """The head of the syllabus, then the entry of each lesson."""
    return re.split(r"^(?=\[\[lesson\]\])", text, flags=re.MULTILINE)


def _lists(part: str, slug: str) -> bool:
    return re.search(rf"""^slug\s*=\s*["']{slug}["']""", part, re.MULTILINE) is not None
