"""Formats text for messages, safe to print for any submission."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any

MAX_TEXT = 60
"""The limit on one string or key, in characters."""
LONGEST = 10_000
"""The limit on one line of a report, in characters; messages have no longer lines."""
MAYBE_INVISIBLE = re.compile(r"[^\x20-\x7e\n]+")


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """`text` on one line, with unprintable characters escaped, cut to `limit` characters."""
    if text.isprintable() and len(text) <= limit:
        return text
    kept = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[: limit + 1])
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def printable(text: str, limit: int = LONGEST) -> str:
    """`text` with its line breaks, other unprintable characters escaped, and each line cut to `limit` characters."""
    if text.isprintable() and len(text) <= limit:  # the usual case, fast because pages have thousands of texts
        return text
    return "\n".join(clean(line, limit) for line in text.split("\n"))


def fenced(text: str) -> str:
    """A fenced code block of Markdown with `text`; its fence is longer than any in the text."""
    shown = printable(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence}text\n{shown}\n{fence}\n"


def in_a_row(text: str) -> str:
    """The lines of a text joined by semicolons, like statements: `b = a + a; y = b + b`."""
    return "; ".join(text.splitlines())


def printable_json(data: Any, indent: int | None = None) -> str:
    """`data` as JSON with all invisible characters except line breaks escaped; it parses to the same data.

    Otherwise control characters could change the direction of text on a terminal or in an editor.
    """
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    return text if text.isascii() and "\x7f" not in text else MAYBE_INVISIBLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    shown = (c if c.isprintable() else json.dumps(c)[1:-1] for c in match[0])
    return "".join("\\u007f" if c == "\x7f" else c for c in shown)


def code_in_html(text: str) -> str:
    """`text` as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))


def quoted(text: str, limit: int = MAX_TEXT) -> str:
    """`text` cleaned by `clean`, in quotes."""
    return f"'{clean(text, limit)}'"


def agreeing(name: str, singular: str, plural: str) -> str:
    """The form of a verb that agrees with a name: `dx is`, `the bytes are`, `the number of calls is`."""
    head = name.split(" of ")[0].split(" ")[-1]
    several = head.isalpha() and head.endswith("s") and not head.endswith(("ss", "us", "is", "as"))
    return plural if several else singular


def enumeration(items: Sequence[Any], last: str = "and") -> str:
    """The items as a list in words: `a, b and c`."""
    words = [str(item) for item in items]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(number: float, one: str, many: str = "") -> str:
    """A number with its noun: `1 submission`, `2 submissions`; give `many` if the plural is not `one` with an s."""
    shown = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{shown} {one if number == 1 else many or f'{one}s'}"


def some(names: Sequence[str], most: int = 5) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def in_points(points: float) -> str:
    """Points with at most two decimals."""
    return f"{points:.2f}".rstrip("0").rstrip(".") if abs(points) < 1e9 else f"{points:g}"


def points_in_words(earned: float, most: float, *, visible_only: bool = False) -> str:
    """`2 of 3 points`, followed by "on the visible cases" if `visible_only`."""
    return f"{in_points(earned)} of {in_points(most)} {'point' if most == 1 else 'points'}" + (
        " on the visible cases" if visible_only else ""
    )
