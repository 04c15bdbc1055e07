"""Solution regions of a lesson's source that replace the solution by other code for learners to repair."""

from __future__ import annotations

import re

BEGIN, HANDED_OUT, END = "### BEGIN SOLUTION", "### HANDED OUT", "### END SOLUTION"
"""The marks of a region. `HANDED_OUT` is ours: between it and `END` is the learners' code, commented out."""


def regions(source: str, *, solved: bool) -> str:
    """A cell's source with its `HANDED_OUT` regions resolved; other regions stay as they are.

    If `solved`, such a region keeps its solution and loses the learners' code. Otherwise the learners' code replaces
    the region with its marks, and is no longer commented out: nothing shows where the program is broken.
    """
    kept: list[str] = []
    region: list[str] | None = None
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            region = []
        if region is None:
            kept.append(line)
            continue
        region.append(line)
        if line.strip() == END:
            kept += _region(region, solved=solved)
            region = None
    return "\n".join(kept)


def _region(lines: list[str], *, solved: bool) -> list[str]:
    """One region, given from `BEGIN` to `END`, after that."""
    marks = [i for i, line in enumerate(lines) if line.strip() == HANDED_OUT]
    if not marks:
        return lines
    if solved:
        return [*lines[: marks[0]], lines[-1]]
    return [re.sub(r"^(\s*)# ?", r"\1", line) for line in lines[marks[0] + 1 : -1]]
