"""What students are called: one name for one student, whichever system wrote it, that results can have a folder of."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from autograder.classroom.results_folder import HIDDEN

UNKNOWN = "(unknown)"
"""Whose a file is that lies where nobody's do: no student is called so."""
NAME_BYTES = 255
"""Of the name of a folder, on every common file system."""
BLANKS = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
"""What looks like a blank; a line break is shown as what it is."""


def as_folder(name: str) -> str:
    """A student's name as that of a folder: one that is not hidden, and in no other place.

    macOS writes ü as two characters and everyone else as one, and nobody sees a blank at the end: such names are one.
    A name that is too long ends in its hash.
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
    """What two names have in common that a file system which knows no capitals takes for one."""
    return unicodedata.normalize("NFC", name.casefold())
