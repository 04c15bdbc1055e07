"""What a notebook's cells are called: their ids, and the names that nbgrader knows grades by."""

from __future__ import annotations

import re


def cell_id(exercise: str, part: str | None = None) -> str:
    """An exercise, or a part of it, as a cell's id may say it."""
    words = f"{exercise} {part}" if part else exercise
    return re.sub(r"[^A-Za-z0-9_]+", "-", words)


def check_id(exercise: str) -> str:
    """What nbgrader calls the check cell of an exercise, and its grade."""
    return f"check-{cell_id(exercise)}"
