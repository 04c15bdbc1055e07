"""Rows and columns, split across ranks.

Ranks are threads in the submission's process: scenarios start them and return numbers.
"""

from __future__ import annotations


def cut(size: int) -> str:
    return f"{size} rank{'s' * (size > 1)}"


WEIGHED = "what each rank sends is multiplied by numbers of its own"
