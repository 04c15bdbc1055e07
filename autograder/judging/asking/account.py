"""What one submission may use, and how much of it is left: all of its processes together, across restarts."""

from __future__ import annotations

from autograder.judging.asking.time_budget import TimeBudget

SUBMISSION_SECONDS = 180.0
"""Most time that all calls of one submission may take together, against many calls just below their own limit."""
PROCESSOR_SECONDS = 300.0
"""Most processor time that all its processes may use together."""
RETURNED_BYTES = 256 * 2**20
"""Most bytes that all calls may return: the judge keeps visible answers until the hidden ones have arrived."""


class Account:
    """The budgets of one submission, shared by all of its runs."""

    def __init__(self) -> None:
        self.time_budget = TimeBudget()
        """Processor time for decoding, comparing and diagnosing its answers."""
        self.most_call_seconds = self.call_seconds = SUBMISSION_SECONDS
        """Seconds allowed, and seconds left, for calls."""
        self.processor_seconds = PROCESSOR_SECONDS
        """Processor seconds left for its processes."""
        self.returned = 0
        """Bytes that its calls have returned so far."""
