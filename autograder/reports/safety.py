"""Text and names that learners chose, made fit for a page, a spreadsheet and a file system."""

from __future__ import annotations

import hashlib
import re

from autograder.wording import clean

LONGEST = 10_000
"""Characters of one line that any report shows; a message has no longer ones."""
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")
"""How cells begin that a spreadsheet computes (the wide ones too, in some), and the mark that says it must not."""
PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that no file on Windows may have."""


def printable(text: str) -> str:
    """`text` with line breaks as they are, and everything else that is no visible character escaped."""
    if text.isprintable() and len(text) <= LONGEST:  # nearly always, and pages hold thousands of texts
        return text
    return "\n".join(clean(line, LONGEST) for line in text.split("\n"))


def cell(text: str) -> str:
    """`text` for a spreadsheet: on one line, and never a formula."""
    shown = clean(text, LONGEST)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown


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
