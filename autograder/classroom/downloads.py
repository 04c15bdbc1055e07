"""Decides whether a class folder is a later download of one that was graded, by the names that the platform gave.

A platform puts identifiers of its own into the name of each entry: Canvas the user's and the file's number, Moodle the
participant's number in this assignment, Gradescope the submission's, Brightspace and Blackboard the user and the time.
A student who did not hand in again has the same identifiers in the next download, whatever the zip is called; in
another class or assignment they differ. One student can forge one entry, so half of the earlier entries have to appear
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

SERIAL = re.compile(r".*_(\d+)_?", re.DOTALL)
"""Canvas's `kingada_101_90001_` and Gradescope's `submission_12` end in a number that increases with time."""


def shared_with(entries: Set[str], before: Set[str]) -> int:
    """Number of entries that a later download shares with an earlier one; 0 if it is not a later download of it."""
    shared = len(entries & before)
    return shared if before and 2 * shared >= len(before) and _latest(entries) >= _latest(before) else 0


def _latest(entries: Iterable[str]) -> int:
    return max((int(match[1]) for one in entries if (match := SERIAL.fullmatch(one))), default=0)
