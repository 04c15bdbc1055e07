"""What feedback says about a failing hidden check: its name, and one of a few outcomes in our own words.

Any text from the submission (an exception, a shape, a name, a key) could leak hidden inputs, and the next attempt could
answer from a table of them.
"""

from __future__ import annotations

from autograder.judging.records.errors import Crashed, Forbidden, Missing, TimedOut, Undefined
from autograder.judging.records.record import CHANGED, OF_ANOTHER_TYPE, Record

WRONG = "is wrong"
ENDINGS = {
    TimedOut: "does not return in time",
    Crashed: "ends its process, or sends what cannot be read,",
    Forbidden: "makes a call or an import that is forbidden",
    Missing: "is not there",
    Undefined: "is not there",
}
SLIPS = {OF_ANOTHER_TYPE: "gives the right values in another type", CHANGED: "changes what it is called with"}
RAISED = "raises an exception"
UNUSABLE = "gives what the check cannot use"
OUTCOMES = (*dict.fromkeys(ENDINGS.values()), *SLIPS.values(), RAISED, UNUSABLE, WRONG)
"""Everything that can be said about a failing hidden check."""


def outcome(record: Record) -> str:
    """What happened in a failing hidden check, one of `OUTCOMES`."""
    if record.ended_by is not None:
        return next((words for kind, words in ENDINGS.items() if isinstance(record.ended_by, kind)), RAISED)
    return UNUSABLE if record.raised else SLIPS.get(record.cost, WRONG)


def said_of(record: Record) -> str:
    """One line about a failing hidden check."""
    return f"On a hidden input {record.exercise} {outcome(record)} (the check: {record.check})."
