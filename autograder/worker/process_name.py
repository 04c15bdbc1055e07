"""Names our processes for `ps` and `top` (Linux), because forks share the command line of the first process."""

from __future__ import annotations

import ctypes
import sys
from typing import Literal

_PR_SET_NAME = 15

Name = Literal["bp-nursery", "bp-grader", "bp-zygote", "bp-launcher", "bp-worker", "bp-submission"]


def name_process(name: Name) -> None:
    """Set this process's name, at most 15 bytes, as `ps -o comm` and `top` show it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)
