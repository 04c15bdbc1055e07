"""What one submission may use, and has used by now: all of its processes together, whatever restarts them."""

from __future__ import annotations

from autograder.judging.errors import Crashed, TimedOut
from autograder.judging.patience import Patience
from autograder.judging.source_text import CellProblem
from course.syllabus import Kit

SUBMISSION_SECONDS = 180.0
"""What all calls of one submission may take together: many calls just below their own limit end here."""
PROCESSOR_SECONDS = 300.0
"""The processor time that all of its processes may use together."""


class Account:
    """The account of one submission, kept by all of its runs: for each kit, for visible and for hidden inputs."""

    def __init__(self) -> None:
        self.patience = Patience()
        """What may be spent on reading it, judging it and naming what is wrong."""
        self.call_seconds = SUBMISSION_SECONDS
        """What is left for calls."""
        self.processor_seconds = PROCESSOR_SECONDS
        """What is left for its processes."""
        self.ended: dict[str, TimedOut | Crashed] = {}
        """The exercises that are not called any more, and why."""
        self.returned: dict[str, int] = {}
        """Bytes that the calls of each exercise have returned."""
        self.in_a_hurry: set[str] = set()
        """Exercises that have used up a limit of time already: what they are asked again has less."""
        self._left_out: dict[Kit, dict[int, CellProblem]] = {}

    def left_out(self, kit: Kit) -> dict[int, CellProblem]:
        """The cells, by number, that hung or ended their process where this kit is, and are not run again."""
        return self._left_out.setdefault(kit, {})
