"""Makes text and names chosen by learners safe to show: one function for each kind of output.

a terminal      `printable`, used by `autograder.reports.screen` and `echo` for all output of commands
a page          `printable`, then Jinja's escaping (`autograder.reports.pages`)
a spreadsheet   `cell`, in a table that `TableWriter` writes; a platform's own cells are `Kept`
a platform's HTML   `markup`
Markdown        `inert`, `prose` and `fenced`
a file's name   `file_stem`
"""

from __future__ import annotations

import csv
import hashlib
import html
import re
from collections.abc import Iterable
from typing import Any, TextIO

from autograder.wording import LONGEST, clean, fenced, printable

__all__ = [
    "LONGEST",
    "Kept",
    "TableWriter",
    "begins_formula",
    "cell",
    "disarmed",
    "fenced",
    "file_stem",
    "inert",
    "markup",
    "printable",
    "prose",
]
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")
"""Prefixes of cells that a spreadsheet evaluates (some also the wide ones), and the quote that prevents it."""
WITHIN = re.compile(rf'([;\t\r\n][\s"]*)(?=[{"".join(map(re.escape, FORMULA[:-1]))}])')
"""Places in a text where a formula would begin if the delimiter were a semicolon or a tab."""
NO_FORMULA = re.compile(r"\s*[-+]?[\d.,\s]*")
"""Numbers, and the dash that means nothing."""
PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that Windows reserves."""


def cell(text: str) -> str:
    """`text` as a spreadsheet cell: on one line, and never a formula."""
    shown = clean(text, LONGEST)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown


class Kept(str):
    """A cell of a platform's own table, or an id by which its import finds people: written unchanged."""


def begins_formula(text: str) -> bool:
    """Whether a spreadsheet would read a formula at the start of `text`, or after a delimiter or line break in it."""
    start = text.lstrip().startswith(FORMULA[:-1]) and not NO_FORMULA.fullmatch(text)
    return start or any(not NO_FORMULA.fullmatch(part) for part in WITHIN.split(text)[2::2])


def disarmed(text: str) -> str:
    """`text` with a quote before each formula that `begins_formula` finds; a text without formulas is unchanged."""
    if not begins_formula(text):
        return text
    within = WITHIN.sub(r"\1'", text)
    return f"'{within}" if within.lstrip().startswith(FORMULA[:-1]) else within


class TableWriter:
    """Writes CSV without formulas, whether the reading program splits at commas, semicolons or tabs.

    All texts are quoted. A program that splits at semicolons honours quotes only at a cell's start, so a formula after
    a delimiter within a text is disarmed with a quote, as in `cell`. `Kept` cells are written as they are; those that
    begin a formula are listed in `formulas`.
    """

    def __init__(self, file: TextIO, *, numbers: bool = False, **dialect: str) -> None:
        """`numbers`: leave numbers unquoted; `dialect`: options of `csv.writer`."""
        quoting = csv.QUOTE_NONNUMERIC if numbers else csv.QUOTE_ALL
        self._out = csv.writer(file, quoting=quoting, **dialect)  # type: ignore[arg-type]
        self.formulas: list[str] = []

    def writerow(self, row: Iterable[Any]) -> None:
        """Write one row."""
        self._out.writerow([self._safe(one) if isinstance(one, str) else one for one in row])

    def _safe(self, text: str) -> str:
        if not isinstance(text, Kept):
            return WITHIN.sub(r"\1'", text)
        self.formulas += [text] * begins_formula(text)
        return text


def markup(text: str) -> str:
    """`text` for a field that a platform shows as HTML: on one line, without tags or entities."""
    return html.escape(clean(text, LONGEST), quote=False)


def inert(text: str, limit: int = 300) -> str:
    """`text` on one line, shown literally anywhere in Markdown.

    All punctuation is escaped, and `<code>` keeps GitHub from linking names.
    """
    return f"<code>{_entities(clean(text, limit))}</code>"


def prose(text: str, limit: int = 600) -> str:
    """A sentence on one line, without Markdown or HTML syntax."""
    return _entities(clean(text, limit))


def _entities(text: str) -> str:
    return re.sub(r"[!-/:-@\[-`{-~]", lambda match: f"&#{ord(match[0])};", text)


def file_stem(student: str) -> str:
    """A file name for a student, valid on every file system and unique.

    A name of lower-case letters, digits, dots and dashes is kept. Any other, including one with capitals, which some
    file systems ignore, is simplified and ends in `~` and a hash.
    """
    if PLAIN_NAME.fullmatch(student) and not RESERVED.fullmatch(student) and not student.endswith("."):
        return student
    readable = re.sub(r"[^a-z0-9]+", "-", student.lower()).strip("-")[:40]
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{readable or 'student'}~{digest}"
