"""Parses times from files of others. Years far from the present are refused: arithmetic with them may overflow."""

from __future__ import annotations

from datetime import date, datetime

FIRST_YEAR, LAST_YEAR = 2000, 2100


def is_plausible(when: date) -> bool:
    """Whether a date or time is in the years in which a class can have taken place."""
    return FIRST_YEAR <= when.year <= LAST_YEAR


def moment_of(text: str) -> datetime | None:
    """Parse a time in ISO 8601; None for any other text, or if the year is not plausible."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return when if is_plausible(when) else None
