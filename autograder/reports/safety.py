"""Text and names that learners chose, made fit for where they are shown: one function for each place.

a terminal      `printable`, through which `autograder.reports.screen` and `echo` pass all that commands say
a page          `printable`, then Jinja's own escaping (`autograder.reports.pages`)
a spreadsheet   `cell`
HTML that a platform shows      `markup`
Markdown        `inert`, `prose` and `fenced`
a file's name   `file_stem`
"""

from __future__ import annotations

import hashlib
import html
import re

from autograder.wording import LONGEST, clean, fenced, printable

__all__ = ["LONGEST", "cell", "fenced", "file_stem", "inert", "markup", "printable", "prose"]
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")
"""How cells begin that a spreadsheet computes (the wide ones too, in some), and the mark that says it must not."""
PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that no file on Windows may have."""


def cell(text: str) -> str:
    """`text` for a spreadsheet: on one line, and never a formula."""
    shown = clean(text, LONGEST)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown


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
