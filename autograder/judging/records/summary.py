"""One line on why a check failed."""

from __future__ import annotations

from autograder.judging.records.record import Record
from autograder.judging.records.withheld import said_of
from autograder.wording import in_a_row


def summary(record: Record) -> str:
    """One line on why a check failed."""
    if not record.visible:
        return said_of(record)
    if record.failures:
        first = record.failures[0]
        where = f" ({in_a_row(first.case)})" if first.case else ""
        return f"{first.problems[0]}{where}"
    return str(record.ended_by or "The check compared nothing.")
