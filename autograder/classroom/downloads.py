"""Whether a class folder is a later download of one that was graded: by what the platform called its entries.

A platform puts its own numbers before what a student chose: Canvas the user's and the file's, Moodle the participant's
in this assignment, Gradescope the submission's, Brightspace and Blackboard the user and the time. Who did not hand in
again has the same ones in the next download, whatever the zip is called; another class or assignment has others. One
student may call a folder like a classmate's entry, so that it takes half of all that were there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

SERIAL = re.compile(r".*_(\d+)_?", re.DOTALL)
"""Canvas's `kingada_101_90001_` and Gradescope's `submission_12` end in a number that grows with time."""


def shared_with(entries: Set[str], before: Set[str]) -> int:
    """How many entries a later download of the same export shares with the one before; 0 if it is none."""
    shared = len(entries & before)
    return shared if before and 2 * shared >= len(before) and _latest(entries) >= _latest(before) else 0


def _latest(entries: Iterable[str]) -> int:
    return max((int(match[1]) for one in entries if (match := SERIAL.fullmatch(one))), default=0)
