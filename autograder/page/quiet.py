"""Where output goes that a page does not show."""

from __future__ import annotations

import io


class Nowhere(io.TextIOBase):
    """A text file that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)
