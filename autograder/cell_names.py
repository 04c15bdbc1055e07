"""The ids of a notebook's cells, and nbgrader's names of grades."""

from __future__ import annotations

import re


def cell_id(exercise: str, part: str | None = None) -> str:
    """The name of an exercise, or of a part of it, in the characters allowed in a cell's id."""
    words = f"{exercise} {part}" if part else exercise
    return re.sub(r"[^A-Za-z0-9_]+", "-", words)


def check_id(exercise: str) -> str:
    """nbgrader's name for the check cell of an exercise and for its grade."""
    return f"check-{cell_id(exercise)}"
