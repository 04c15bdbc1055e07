"""The terminal: the one way to it for reports and commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from autograder.reports.safety import printable


class Screen(Console):
    """A console on which text is text: results quote what submissions say, and files what other people wrote.

    No markup and no emoji codes are read, and whatever would move the cursor, change colours or turn the direction of a
    line is escaped, in cells of tables, too. Styles are given by our own code alone.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "highlight": False, "emoji": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)
