"""The card that a check shows: HTML that needs neither a script nor a widget, in any theme.

Words have the page's own colour on its own background. Colours of ours are those of the badge alone, which brings its
background with it, and of lines: so nothing is hard to read in a dark theme. A hint opens where it stands, in a page
that was exported, too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

Block = dict[str, Any]
"""A part of a card as data, which a page makes nodes of: `cause` and `rest` are a paragraph, `lines` keep their layout,
and `summary` opens `inside`, a list of blocks."""
BADGES = {
    "passed": ("✓", "#15803d"),
    "partial": ("◐", "#b45309"),
    "missing": ("○", "#4b5563"),
    "failed": ("✗", "#b91c1c"),
}
"""A glyph and a colour for each status; every other one is `failed` in another way. On them the words are white."""
WORDS = {"missing": "not written yet", "partial": "partly right", "error": "stopped by an error"}
"""What a status is called, where it is not called what it is."""
AFTER_A_CASE = ("Another check says: ", "No points: ", "No points, even for what is right: ")
"""How a sentence begins that stands below a failing case."""
_PLAIN = "background:none;color:inherit;border:0"
_CODE = (
    f"{_PLAIN};margin:.5em 0 0;padding:0;overflow-x:auto;white-space:pre;"
    "font-family:var(--jp-code-font-family,monospace);font-size:.92em;line-height:1.35"
)


def card(color: str, parts: Iterable[str]) -> str:
    """The frame, with a line at its left in the colour of the status."""
    style = f"border-left:4px solid {color};padding:.2em 0 .3em .9em;margin:.2em 0;max-width:60em;line-height:1.45"
    return f"<div style='{style}'>{''.join(parts)}</div>"


def badge(status: str) -> str:
    """The status in white on its colour."""
    glyph, color = badge_of(status)
    style = f"background:{color};color:#fff;border-radius:.3em;padding:.1em .5em;white-space:nowrap;font-weight:600"
    return f"<span style='{style}'>{glyph} {html.escape(WORDS.get(status, status))}</span>"


def badge_of(status: str) -> tuple[str, str]:
    """The glyph and the colour of a status."""
    return BADGES.get(status, BADGES["failed"])


def heading(status: str, name: str, more: str) -> str:
    """The first line: the status, which exercise, and what it is worth."""
    return f"<div>{badge(status)} <b>{html.escape(name)}</b> <span>{html.escape(more)}</span></div>"


def described(text: str) -> list[Block]:
    """What the judge says: the cause, what else there is to say, and the failing case as it is laid out."""
    said, laid_out = split(text)
    found: list[Block] = []
    for number, line in enumerate(said):
        cause, rest = first_sentence(line) if not number else ("", line)
        found.append({"cause": cause, "rest": rest})
    return found + [{"lines": "\n".join(laid_out)}] * bool(laid_out)


def message(text: str) -> Iterable[str]:
    """What the judge says, in HTML: the cause is bold."""
    for block in described(text):
        if "lines" in block:
            yield preformatted(block["lines"])
        else:
            bold = f"<b>{html.escape(block['cause'])}</b> " if block["cause"] else ""
            yield paragraph(bold + html.escape(block["rest"]))


def split(text: str) -> tuple[list[str], list[str]]:
    """The sentences of a message, and the lines of it that only make sense one under the other."""
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
    while end > number and _is_said(lines[end - 1]):
        end -= 1
    return [*lines[:number], *lines[end:]], lines[number:end]


def _is_said(line: str) -> bool:
    """Whether a line below a failing case is a sentence, and no part of the case."""
    return line.startswith(AFTER_A_CASE) or line.endswith(" is not written yet.")


def first_sentence(line: str) -> tuple[str, str]:
    """A line's first sentence, and the others."""
    parts = re.split(r"(?<=[.!?]) (?=[A-Z(])", line, maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def preformatted(text: str) -> str:
    """Lines that stand one under the other; long ones scroll, and are never broken in a word."""
    return f"<pre style='{_CODE}'>{html.escape(text)}</pre>"


def paragraph(text: str) -> str:
    """Words of ours, in HTML already."""
    return f"<p style='margin:.5em 0 0'>{text}</p>"


def code(text: str) -> str:
    """A line to type."""
    return f"<code style='{_PLAIN}'>{html.escape(text)}</code>"


def link(address: str, words: str) -> str:
    """A link that is told from the words around it by its line, as its colour is theirs."""
    return f"<a href='{html.escape(address)}' style='color:inherit;text-decoration:underline'>{html.escape(words)}</a>"


def opening(summary: str, inside: str) -> str:
    """Something that opens where it stands when it is clicked."""
    style = "cursor:pointer;display:list-item;text-decoration:underline dotted"
    head = f"<summary style='{style}'>{html.escape(summary)}</summary>"
    return f"<details style='margin:.5em 0 0'>{head}<div style='margin:.2em 0 .4em 1.1em'>{inside}</div></details>"


def hint_blocks(texts: Sequence[str]) -> list[Block]:
    """All hints, each of which opens within the one before."""
    inside: list[Block] = []
    for number in range(len(texts), 0, -1):
        said = {"cause": "", "rest": texts[number - 1]}
        inside = [{"summary": f"Hint {number} of {len(texts)}", "inside": [said, *inside]}]
    return inside


def hints(texts: Sequence[str], shown: int) -> str:
    """The first hints, of which `shown` were asked for; each of the others opens within the one before."""
    asked = "".join(
        paragraph(f"<b>Hint {number} of {len(texts)}.</b> {html.escape(text)}")
        for number, text in enumerate(texts[:shown], 1)
    )
    inside = ""
    for number in range(len(texts), min(shown, len(texts)), -1):
        inside = opening(f"Hint {number} of {len(texts)}", html.escape(texts[number - 1]) + inside)
    return asked + inside


def table(rows: Iterable[Sequence[str]], heads: Sequence[str]) -> str:
    """A table of cells that are HTML already."""
    style = f"padding:.15em .9em .15em 0;text-align:left;{_PLAIN}"
    first = "".join(f"<th style='{style}'>{html.escape(head)}</th>" for head in heads)
    lines = ["".join(f"<td style='{style}'>{cell}</td>" for cell in row) for row in rows]
    body = "".join(f"<tr style='{_PLAIN}'>{line}</tr>" for line in (first, *lines))
    return f"<table style='border-collapse:collapse;margin:.5em 0 0;{_PLAIN}'>{body}</table>"
