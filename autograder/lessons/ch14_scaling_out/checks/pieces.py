"""Rows and columns, cut for the ranks.

Ranks run side by side in threads, beside the submission: scenarios start them and bring numbers back.
"""

from __future__ import annotations


def cut(size: int) -> str:
    return f"{size} rank{'s' * (size > 1)}"
