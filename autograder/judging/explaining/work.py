"""Counts the work of explaining an answer in calls, so that no load and no earlier answer changes what is said.

Seconds differ from run to run, and what an earlier answer had tried is free. A message that depended on either would
be another one on a busy machine, or for the next student.
"""

from __future__ import annotations

import time

from autograder.judging.records.record import Record

SCENARIO_CALLS = 20
"""A scenario counts as this many calls: most build networks and run backward passes."""
SEARCH_CALLS = 6_000
"""Calls that the candidates of a search may make for one answer, about a second's."""
ENDLESS_CALLS = 1_000
"""What a candidate that had to be interrupted counts as."""
SEARCH_SECONDS = 20.0
"""Processor time of a search, far beyond what its calls take: for those that take unusually long."""


def calls_of(record: Record) -> int:
    """The calls of a whole check."""
    return _counted(record, len(record.calls))


def calls_to_differ(record: Record) -> int:
    """The calls of a check up to its first failure, or all of them: after these most candidates are ruled out."""
    call = next((failure.call for failure in record.failures if failure.call is not None), None)
    place = next((i for i, one in enumerate(record.calls) if one is call), len(record.calls) - 1)
    return _counted(record, place + 1)


def _counted(record: Record, count: int) -> int:
    return sum(SCENARIO_CALLS if call.scenario else 1 for call in record.calls[:count]) or 1


class SearchEnded(Exception):
    """The search ran out of calls, so what it found may not be the only explanation."""


class Work:
    """The calls that are left to a search; the same ones are counted whether or not their answers are known already.

    Args:
        order: numbers and records of the checks that each candidate is compared on.
        endless_calls: what a candidate that had to be interrupted counts as.
    """

    def __init__(self, order: list[tuple[int, Record]], endless_calls: int = ENDLESS_CALLS) -> None:
        self._endless_calls = endless_calls
        self._calls = {i: calls_of(record) if record.passed else calls_to_differ(record) for i, record in order}
        self._left = SEARCH_CALLS
        self._until = time.process_time() + SEARCH_SECONDS

    def spend(self, i: int, *, endless: bool = False) -> None:
        """Count a candidate's calls in check `i`. Raises `SearchEnded` if there are none left."""
        self._left -= self._endless_calls if endless else self._calls[i]
        if self._left < 0 or time.process_time() > self._until:
            raise SearchEnded
