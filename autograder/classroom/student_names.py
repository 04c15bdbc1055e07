"""Normalises students' names from different systems to names that can be folders."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from autograder.classroom.results_folder import HIDDEN

UNKNOWN = "(unknown)"
"""The student of files that are in no student's folder; not a possible name."""
NAME_BYTES = 255
"""Longest folder name on every common file system."""
BLANKS = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
"""Characters that look like blanks; line breaks are kept, so that they are shown."""


def as_folder(name: str) -> str:
    """A student's name as a folder name that is not hidden and has no path separators.

    Names that look the same become the same: macOS writes ü as two characters and other systems as one, and blanks at
    the end are invisible. A name that is too long ends in its hash.
    """
    plain = unicodedata.normalize("NFC", re.sub(r"[/\\\0]", "_", name))
    shown = BLANKS.sub(" ", plain).strip() or "_"
    if shown.startswith(HIDDEN) or shown == UNKNOWN:
        shown = f"student {shown}"
    encoded = shown.encode("utf-8", "surrogateescape")
    if len(encoded) <= NAME_BYTES:
        return shown
    kept = encoded[: NAME_BYTES - 17].decode("utf-8", "ignore")
    return f"{kept}~{hashlib.sha256(encoded).hexdigest()[:16]}"


def alike(name: str) -> str:
    """A key that is equal for names that a case-insensitive file system does not distinguish."""
    return unicodedata.normalize("NFC", name.casefold())
