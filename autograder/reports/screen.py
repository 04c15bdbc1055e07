"""The console that all reports and commands print to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from autograder.reports.safety import printable


class Screen(Console):
    """A console that shows text literally, because results and files may quote other people's text.

    It interprets no markup or emoji codes, and escapes characters that would move the cursor, change colors or reverse
    the text direction, also in table cells. Only our own code sets styles.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "highlight": False, "emoji": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)
