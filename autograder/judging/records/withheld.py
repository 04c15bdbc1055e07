"""What is said of a hidden case: which check it was, and which of a few things happened, in words of our own.

Whatever else a submission could say of a hidden case (an exception, a shape, a name, a key) could carry the inputs out,
and the next attempt would answer from a table.
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
"""All that can be said of a hidden check that fails."""


def outcome(record: Record) -> str:
    """What happened in a hidden check that fails, of `OUTCOMES`."""
    if record.ended_by is not None:
        return next((words for kind, words in ENDINGS.items() if isinstance(record.ended_by, kind)), RAISED)
    return UNUSABLE if record.raised else SLIPS.get(record.cost, WRONG)


def said_of(record: Record) -> str:
    """One line on a hidden check that fails."""
    return f"On a hidden input {record.exercise} {outcome(record)} (the check: {record.check})."
