"""Times as others wrote them: a year that no class has seen is no time, and arithmetic with it would overflow."""

from __future__ import annotations

from datetime import date, datetime

FIRST_YEAR, LAST_YEAR = 2000, 2100


def is_plausible(when: date) -> bool:
    """Whether a date or a time is one that a class can have seen."""
    return FIRST_YEAR <= when.year <= LAST_YEAR


def moment_of(text: str) -> datetime | None:
    """A time in ISO 8601; None for any other text, and for a year that is not plausible."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return when if is_plausible(when) else None
