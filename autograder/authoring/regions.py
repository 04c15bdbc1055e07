"""The regions of a lesson's source: what stands there solved, and what learners get."""

from __future__ import annotations

import re

BEGIN, HANDED_OUT, END = "### BEGIN SOLUTION", "### HANDED OUT", "### END SOLUTION"
"""The marks of a region: nbgrader's, and ours between them, behind which stands, commented out, what learners get."""


def regions(source: str, *, solved: bool) -> str:
    """A cell whose regions have `HANDED_OUT` in them: solved, without what stands behind it; else with that alone.

    What is handed out takes the place of its region and loses its `# `; no mark is left to say where it stands.
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
    """What becomes of one region, from its first mark to its last."""
    marks = [i for i, line in enumerate(lines) if line.strip() == HANDED_OUT]
    if not marks:
        return lines
    if solved:
        return [*lines[: marks[0]], lines[-1]]
    return [re.sub(r"^(\s*)# ?", r"\1", line) for line in lines[marks[0] + 1 : -1]]
