"""How long a lesson takes: the minutes of its text, which the book's build records, and those of its exercises.

`times.toml` has a table for each chapter: the minutes of its text, `text`, and those of the sections that teach an
exercise, by their labels. The build computes them by the rule in `book/REVIEWING.md`, and refuses a different record.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("times.toml")
MINUTES_A_POINT = 3.5
"""For one point's part of an exercise: read its contract, derive, write, check and correct."""
ROUNDED_TO = 10
"""Minutes; the time of a lesson is no more precise than that."""


@dataclass(frozen=True)
class TextTimes:
    """The minutes that a chapter's text takes, without its exercises."""

    text: int
    sections: Mapping[str, int]
    """Minutes of the sections that teach an exercise, by their labels, such as `ch06-relu-vjp`."""


def own_minutes(points: float) -> float:
    """The minutes that exercises worth these points take, without the sections that teach them."""
    return MINUTES_A_POINT * points


def lesson_minutes(text: float, points: float) -> int:
    """A lesson's minutes, to the next ten: its text and its exercises."""
    return max(round((text + own_minutes(points)) / ROUNDED_TO), 1) * ROUNDED_TO


def in_hours(minutes: float) -> str:
    """Minutes in words: `25 minutes`, `2 h 30 min`."""
    hours, rest = divmod(round(minutes), 60)
    if not hours:
        return f"{rest} minutes" if rest != 1 else "1 minute"
    return f"{hours} h {rest:02d} min" if rest else f"{hours} h"


def read_times(path: Path) -> dict[str, TextTimes]:
    """The recorded times by lesson; none if the file is missing."""
    if not path.is_file():
        return {}
    raw: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {slug: TextTimes(entry["text"], entry["sections"]) for slug, entry in raw.items()}


@cache
def _ours() -> dict[str, TextTimes]:
    return read_times(RECORD)


def text_times(slug: str) -> TextTimes | None:
    """The recorded times of a chapter's text; None for a lesson without a chapter in our book."""
    return _ours().get(slug)


def as_toml(times: Mapping[str, TextTimes]) -> str:
    """The content of `times.toml`."""
    head = "# Minutes of the chapters' text, by the rule in book/REVIEWING.md. Written by `make times`; do not edit.\n"
    tables = []
    for slug, one in sorted(times.items()):
        sections = "".join(f'"{label}" = {minutes}\n' for label, minutes in one.sections.items())
        tables.append(f"\n[{slug}]\ntext = {one.text}\n\n[{slug}.sections]\n{sections}")
    return head + "".join(tables)
