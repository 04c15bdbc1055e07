"""The templates of all HTML pages, with autoescaping, the style, and the Content-Security-Policy."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.moments import moment_of
from autograder.reports.safety import printable
from autograder.wording import clean, counted, in_points

TEMPLATES = Path(__file__).with_name("templates")
WRONG_ENTRY = re.compile(r"(?<![\w)\]*])\*(?:-?(?:\d[\d.]*(?:e-?\d+)?|inf)|nan|True|False)\b")
"""An entry marked as wrong in a smallest case."""


def environment() -> Environment:
    """A Jinja environment that escapes everything, with the style, the script, and a policy that allows only these."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
    )
    style, script = (Markup((TEMPLATES / name).read_text(encoding="utf-8")) for name in ("pages.css", "table.js"))
    environment.globals |= {
        "style": style,
        "script": script,
        "policy": (
            f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
            "base-uri 'none'; form-action 'none'"
        ),
        "glyphs": {"passed": "✓", "partial": "◐", "missing": "·"},
        "promises": {"value": "cannot be forged", "instrumented": "hard to fake"},
    }
    environment.filters |= {"marked": marked, "points": in_points, "counted": counted}
    return environment


def in_words(at: str) -> str:
    """A time in ISO 8601 as `12 Nov 2026, 22:54`; other text unchanged."""
    when = moment_of(at)
    if when is None:
        return clean(at)
    return f"{when.day} {when:%b %Y, %H:%M}" + (f" {when:%Z}" if when.tzinfo else "")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def marked(case: str) -> Markup:
    """A case's text with its wrong entries in `<mark>`."""
    text, parts, at = printable(case), [], 0
    for match in WRONG_ENTRY.finditer(text):
        parts += [escape(text[at : match.start()]), Markup("<mark>"), escape(match[0]), Markup("</mark>")]
        at = match.end()
    return Markup("").join([*parts, escape(text[at:])])
