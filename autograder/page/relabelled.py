"""A page's names for a submission's cells."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from autograder.submission import Submission


def in_a_page(submission: Submission) -> Submission:
    """Relabel a submission's cells by exercise: a page does not show a notebook's cell numbers."""
    parts, seen, cells = Counter(cell.exercise for cell in submission.cells), Counter[str](), []
    for cell in submission.cells:
        if cell.exercise:
            seen[cell.exercise] += 1
            part = f", part {seen[cell.exercise]}" if parts[cell.exercise] > 1 else ""
            cell = replace(cell, label=f"cell {cell.exercise}{part}")
        cells.append(cell)
    return replace(submission, name="this page", cells=tuple(cells))
