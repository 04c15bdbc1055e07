"""What the search for a repair needs of what runs its variants: a process of their own, or the judge's in a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from autograder.judging.asking.run import Run
from autograder.worker.messages import Answer, Call

UNCHANGED_SECONDS = 5.0
"""Processor seconds for the first call: it is traced, and imports what PyTorch imports on first use."""
TRACED_SECONDS = 0.5
"""Processor seconds for other traced calls."""
VARIANT_SECONDS = 0.3
"""Processor seconds for the statements of a variant, and for each of its calls."""
SLOW_VARIANT_SECONDS = 0.03
"""The same in exercises whose calls may be slow: a thousand variants of a training would take minutes."""
TOGETHER = 32
"""Variants that are screened in one round trip."""

Statement = tuple[str, int, str]
"""A top-level statement: the label of its cell, the number of lines before it, and its source."""
Changes = Sequence[tuple[int, str]]
"""Numbers of changed statements, with their new sources."""


class NoVariants(BaseException):
    """Variants of this submission cannot be run any more. A `BaseException`, so that checks do not catch it."""


class RunsVariants(Run, Protocol):
    """One variant at a time of a submission's functions, in place of the submission's own.

    What a variant answers is only compared: it is never shown, and decides no points.
    """

    last: Call | None
    """The last call."""

    def take(self, changes: Changes, *, traced: bool = False, seconds: float | None = None) -> None:
        """Make later calls of the variant with these changes.

        Args:
            traced: note the lines that each call runs.
            seconds: processor seconds for its statements, and for each of its calls; by default a variant's.
        """

    def screen(self, variants: Sequence[Changes], call: Call) -> list[Answer | None]:
        """The answers of several variants to the same call, whose arguments are data; None for one that has none."""

    def lines(self) -> set[tuple[str, int]]:
        """The lines that the last call ran, as pairs of a cell's label and a line, if it was traced."""

    def entered(self) -> int:
        """How many Python functions the variant has entered so far, those of libraries included, if it is traced."""

    def close(self) -> None:
        """End what runs the variants."""
