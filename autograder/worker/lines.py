"""Splits source into lines as Python does."""

from __future__ import annotations

import io


def lines_of(source: str, keepends: bool = False) -> list[str]:
    r"""Split at `\n`, `\r\n` or `\r`; with `keepends`, each line ends in `\n`.

    `str.splitlines` also splits at form feeds and U+2028, which would turn the rest of a comment into code.
    """
    lines = list(io.StringIO(source, newline=None))
    return lines if keepends else [line.rstrip("\n") for line in lines]
