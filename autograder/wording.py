"""Words for messages: safe to print whatever was handed in, and the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_TEXT = 60
"""Characters of one string or key."""


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """`text` on one line: unprintable characters escaped, at most `limit` characters kept."""
    kept = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[: limit + 1])
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def quoted(text: str, limit: int = MAX_TEXT) -> str:
    """`text` as `clean` gives it, in quotes."""
    return f"'{clean(text, limit)}'"


def enumeration(items: Sequence[Any], last: str = "and") -> str:
    """`a, b and c`."""
    words = [str(item) for item in items]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
