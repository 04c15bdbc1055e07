"""Text and names that learners chose, made fit for where they are shown: one function for each place.

a terminal      `printable`, through which `autograder.reports.screen` and `echo` pass all that commands say
a page          `printable`, then Jinja's own escaping (`autograder.reports.pages`)
a spreadsheet   `cell`, in a table that `TableWriter` writes
HTML that a platform shows      `markup`
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

__all__ = ["LONGEST", "TableWriter", "cell", "fenced", "file_stem", "inert", "markup", "printable", "prose"]
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")
"""How cells begin that a spreadsheet computes (the wide ones too, in some), and the mark that says it must not."""
WITHIN = re.compile(rf'([;\t][\s"]*)(?=[{"".join(map(re.escape, FORMULA[:-1]))}])')
"""Where in a text a formula would begin, if its separators were the table's."""
PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that no file on Windows may have."""


def cell(text: str) -> str:
    """`text` for a spreadsheet: on one line, and never a formula."""
    shown = clean(text, LONGEST)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown


class TableWriter:
    """Writes CSV that has no formula in it, whichever of comma, semicolon and tab the reader takes for the separator.

    All texts are quoted. A program that separates at semicolons takes only a cell's first quotes for such, so what
    would begin a formula behind a separator in a text gets the mark of `cell` as well.
    """

    def __init__(self, file: TextIO, *, numbers: bool = False, **dialect: str) -> None:
        """`numbers`: leave cells that are numbers without quotes; `dialect`: as for `csv.writer`."""
        quoting = csv.QUOTE_NONNUMERIC if numbers else csv.QUOTE_ALL
        self._out = csv.writer(file, quoting=quoting, **dialect)  # type: ignore[arg-type]

    def writerow(self, row: Iterable[Any]) -> None:
        """Write one row."""
        self._out.writerow([WITHIN.sub(r"\1'", one) if isinstance(one, str) else one for one in row])


def markup(text: str) -> str:
    """`text` for a field that a platform shows as HTML: on one line, and never a tag or an entity."""
    return html.escape(clean(text, LONGEST), quote=False)


def inert(text: str, limit: int = 300) -> str:
    """`text` on one line, shown as it is wherever it stands in Markdown.

    No punctuation is left that Markdown, HTML or a table could read; in `<code>` GitHub links no names either.
    """
    return f"<code>{_entities(clean(text, limit))}</code>"


def prose(text: str, limit: int = 600) -> str:
    """A sentence on one line, with nothing in it that Markdown or HTML reads."""
    return _entities(clean(text, limit))


def _entities(text: str) -> str:
    return re.sub(r"[!-/:-@\[-`{-~]", lambda match: f"&#{ord(match[0])};", text)


def file_stem(student: str) -> str:
    """A file name for a student: any file system takes it, and no two students share it.

    A name of small letters, digits, points and dashes is itself. Any other has a `~` and its hash, which those have
    not; capitals count among the others, since some file systems do not tell them from small ones.
    """
    if PLAIN_NAME.fullmatch(student) and not RESERVED.fullmatch(student) and not student.endswith("."):
        return student
    readable = re.sub(r"[^a-z0-9]+", "-", student.lower()).strip("-")[:40]
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{readable or 'student'}~{digest}"
