"""What our processes are called in a list of processes (Linux): forks share the command line of the first."""

from __future__ import annotations

import ctypes
import sys
from typing import Literal

_PR_SET_NAME = 15

Name = Literal["bp-nursery", "bp-grader", "bp-zygote", "bp-launcher", "bp-worker", "bp-submission"]


def name_process(name: Name) -> None:
    """Call this process so, in 15 letters at most: `ps -o comm` and `top` show it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)
