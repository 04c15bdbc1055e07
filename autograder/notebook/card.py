"""Renders the card that a check shows, as HTML without scripts or widgets, readable in any theme.

Text has the page's colour on the page's background. Only the badge, which has its own background, and lines have fixed
colours, so everything is legible in dark themes. Hints are `<details>`, so they open in exported pages, too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.wording import code_in_html

Block = dict[str, Any]
"""A part of a card as data, from which a page of the book builds DOM nodes.

Either a paragraph, with `cause` and `rest`; or preformatted `lines`; or a `summary` that opens `inside`, a list of
blocks.
"""
BADGES = {
    "passed": ("✓", "#15803d"),
    "partial": ("◐", "#b45309"),
    "missing": ("○", "#4b5563"),
    "failed": ("✗", "#b91c1c"),
}
"""A glyph and a background colour, for white text, by status; other statuses look like `failed`."""
WORDS = {"missing": "not written yet", "partial": "partly right", "error": "stopped by an error"}
"""The words for statuses that are not shown under their own name."""
AFTER_A_CASE = (
    *("Another check says: ", "Another mistake: ", "Apart from that: "),
    *("No points: ", "No points, even for what is right: "),
)
"""The beginnings of sentences that may follow a failing case in a message."""
_PLAIN = "background:none;color:inherit;border:0"
_CODE = (
    f"{_PLAIN};margin:.5em 0 0;padding:0;overflow-x:auto;white-space:pre;"
    "font-family:var(--jp-code-font-family,monospace);font-size:.92em;line-height:1.35"
)


def card(color: str, parts: Iterable[str]) -> str:
    """A frame around `parts`, which are HTML, with a line in `color` at its left."""
    style = f"border-left:4px solid {color};padding:.2em 0 .3em .9em;margin:.2em 0;max-width:60em;line-height:1.45"
    return f"<div style='{style}'>{''.join(parts)}</div>"


def badge(status: str) -> str:
    """The status, in white on its colour."""
    glyph, color = badge_of(status)
    style = f"background:{color};color:#fff;border-radius:.3em;padding:.1em .5em;white-space:nowrap;font-weight:600"
    return f"<span style='{style}'>{glyph} {html.escape(WORDS.get(status, status))}</span>"


def badge_of(status: str) -> tuple[str, str]:
    """The glyph and the colour of a status."""
    return BADGES.get(status, BADGES["failed"])


def heading(status: str, name: str, more: str) -> str:
    """The first line of a card: the status, the exercise's name, and `more`, such as its points."""
    return f"<div>{badge(status)} <b>{html.escape(name)}</b> <span>{html.escape(more)}</span></div>"


def described(text: str) -> list[Block]:
    """The judge's message as blocks: paragraphs, the first with its cause, and the failing case with its layout."""
    said, laid_out = split(text)
    found: list[Block] = []
    for number, line in enumerate(said):
        cause, rest = first_sentence(line) if not number else ("", line)
        found.append({"cause": cause, "rest": rest})
    return found + [{"lines": "\n".join(laid_out)}] * bool(laid_out)


def message(text: str) -> Iterable[str]:
    """The judge's message in HTML, with the cause in bold."""
    for block in described(text):
        if "lines" in block:
            yield preformatted(block["lines"])
        else:
            bold = f"<b>{html.escape(block['cause'])}</b> " if block["cause"] else ""
            yield paragraph(bold + html.escape(block["rest"]))


def split(text: str) -> tuple[list[str], list[str]]:
    """The lines of a message that are prose, and those of the failing case, whose layout matters."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith(" ") or not line or (following.startswith("  ") and line.endswith(":")):
            break
        if re.match(r"[^ ]+: (expected |got |float|right$)", line):
            break
    else:
        return lines, []
    end = len(lines)
    while end > number and _is_prose(lines[end - 1]):
        end -= 1
    return [*lines[:number], *lines[end:]], lines[number:end]


def _is_prose(line: str) -> bool:
    """Whether a line below a failing case is prose again."""
    return line.startswith(AFTER_A_CASE) or line.endswith(" is not written yet.")


def first_sentence(line: str) -> tuple[str, str]:
    """A line's first sentence, and the rest of the line."""
    parts = re.split(r"(?<=[.!?]) (?=[A-Z(])", line, maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def preformatted(text: str) -> str:
    """Preformatted text; long lines scroll and are not wrapped."""
    return f"<pre style='{_CODE}'>{html.escape(text)}</pre>"


def paragraph(text: str) -> str:
    """A paragraph of `text`, which is HTML."""
    return f"<p style='margin:.5em 0 0'>{text}</p>"


def code(text: str) -> str:
    """A command or call to type."""
    return f"<code style='{_PLAIN}'>{html.escape(text)}</code>"


def link(address: str, words: str) -> str:
    """A link, underlined because it has the colour of the text around it."""
    return f"<a href='{html.escape(address)}' style='color:inherit;text-decoration:underline'>{html.escape(words)}</a>"


def opening(summary: str, inside: str) -> str:
    """A `<details>` with this summary; `inside` is HTML."""
    style = "cursor:pointer;display:list-item;text-decoration:underline dotted"
    head = f"<summary style='{style}'>{html.escape(summary)}</summary>"
    return f"<details style='margin:.5em 0 0'>{head}<div style='margin:.2em 0 .4em 1.1em'>{inside}</div></details>"


def hint_blocks(texts: Sequence[str]) -> list[Block]:
    """All hints as blocks, each nested in the one before."""
    inside: list[Block] = []
    for number in range(len(texts), 0, -1):
        said = {"cause": "", "rest": texts[number - 1]}
        inside = [{"summary": f"Hint {number} of {len(texts)}", "inside": [said, *inside]}]
    return inside


def hints(texts: Sequence[str], shown: int) -> str:
    """The first `shown` hints as paragraphs, then the others as `<details>`, each nested in the one before."""
    asked = "".join(
        paragraph(f"<b>Hint {number} of {len(texts)}.</b> {code_in_html(text)}")
        for number, text in enumerate(texts[:shown], 1)
    )
    inside = ""
    for number in range(len(texts), min(shown, len(texts)), -1):
        inside = opening(f"Hint {number} of {len(texts)}", code_in_html(texts[number - 1]) + inside)
    return asked + inside


def table(rows: Iterable[Sequence[str]], heads: Sequence[str]) -> str:
    """A table; the cells in `rows` are HTML."""
    style = f"padding:.15em .9em .15em 0;text-align:left;{_PLAIN}"
    first = "".join(f"<th style='{style}'>{html.escape(head)}</th>" for head in heads)
    lines = ["".join(f"<td style='{style}'>{cell}</td>" for cell in row) for row in rows]
    body = "".join(f"<tr style='{_PLAIN}'>{line}</tr>" for line in (first, *lines))
    return f"<table style='border-collapse:collapse;margin:.5em 0 0;{_PLAIN}'>{body}</table>"
