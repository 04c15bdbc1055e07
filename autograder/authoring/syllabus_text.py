"""A syllabus as its author wrote it, comments included: a lesson is read out of it or put into it."""

from __future__ import annotations

import re

from autograder.authoring.tree import AuthoringError


def before_lesson(text: str, later: str, entries: str) -> str:
    """The text with these entries before the lesson `later`, or at its end where that is "" or not listed."""
    parts = _parts(text)
    at = next((i for i, part in enumerate(parts) if later and _lists(part, later)), len(parts))
    before, after = "".join(parts[:at]).rstrip("\n"), "".join(parts[at:])
    apart = "\n\n" if at == len(parts) else "\n"
    return f"{before}\n{apart}{entries.strip()}\n" + (f"\n{after}" if after else "")


def entry_of(text: str, slug: str) -> str:
    """What it says of a lesson. `AuthoringError` where it does not list that."""
    for part in _parts(text):
        if _lists(part, slug):
            return part
    raise AuthoringError(f'the syllabus has no line slug = "{slug}"')


def _parts(text: str) -> list[str]:
    """Its head, and what begins with each lesson."""
    return re.split(r"^(?=\[\[lesson\]\])", text, flags=re.MULTILINE)


def _lists(part: str, slug: str) -> bool:
    return re.search(rf"""^slug\s*=\s*["']{slug}["']""", part, re.MULTILINE) is not None
