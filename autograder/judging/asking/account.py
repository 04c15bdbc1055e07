"""What one submission may use, and has used by now: all of its processes together, whatever restarts them."""

from __future__ import annotations

from autograder.judging.asking.time_budget import TimeBudget

SUBMISSION_SECONDS = 180.0
"""What all calls of one submission may take together: many calls just below their own limit end here."""
PROCESSOR_SECONDS = 300.0
"""The processor time that all of its processes may use together."""
RETURNED_BYTES = 256 * 2**20
"""What all calls may return together: the judge keeps the answers to visible inputs until the hidden ones are there."""


class Account:
    """The account of one submission, kept by all of its runs."""

    def __init__(self) -> None:
        self.time_budget = TimeBudget()
        """What may be spent on reading it, judging it and naming what is wrong."""
        self.most_call_seconds = self.call_seconds = SUBMISSION_SECONDS
        """What there is, and what is left of it, for calls."""
        self.processor_seconds = PROCESSOR_SECONDS
        """What is left for its processes."""
        self.returned = 0
        """Bytes that its calls have returned."""
