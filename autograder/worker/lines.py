"""The lines of a source, as Python counts them."""

from __future__ import annotations

import io


def lines_of(source: str, keepends: bool = False) -> list[str]:
    r"""The lines of a source, which end at `\n`, `\r\n` or `\r`; with `keepends`, all of these ends as `\n`.

    `str.splitlines` ends lines at form feeds and U+2028, too: what follows these in a comment would be code.
    """
    lines = list(io.StringIO(source, newline=None))
    return lines if keepends else [line.rstrip("\n") for line in lines]
