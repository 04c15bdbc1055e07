"""What is said of repairs, apart from how they are found: a page fetches the rest when an answer needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.judging.explaining.attribution import Explaining
from autograder.judging.records.errors import Crashed, Forbidden, Missing, TimedOut, Undefined
from autograder.judging.records.record import Record
from course.syllabus import Exercise

WORTH_REPAIRING = 30.0
"""Exercises whose calls may take more seconds than this are not repaired."""


@dataclass(frozen=True)
class Mended:
    """What a learner is told of repairs."""

    message: str = ""
    """Empty if nothing is said."""
    misconceptions: tuple[str, ...] = ()
    """The known mistakes that it names."""
    causes: int = 0
    """How many mistakes it says there are; 0 if it explains only a part."""

    def replaces(self, explained: Explaining) -> bool:
        """Whether this is said in place of known mistakes that do not give all that the visible checks saw."""
        if explained.whole or not self.message:
            return False
        if not explained.known or self.misconceptions:
            return self.causes > 0
        return self.causes == 1 and bool(explained.left)


NOT_MENDED = Mended()


def may_be_repaired(exercise: Exercise, records: Sequence[Record]) -> bool:
    """Whether a repair is worth looking for: something visible is wrong, and nothing missing, forbidden or endless."""
    failing = [record for record in records if record.visible and not record.passed]
    told = (Missing, Undefined, Forbidden, TimedOut, Crashed)
    is_told = any(isinstance(one.ended_by, told) or one.replaced for one in failing)
    return exercise.seconds <= WORTH_REPAIRING and bool(failing) and not is_told
