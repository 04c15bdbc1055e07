"""Reads a table of people as rows: detects its encoding and delimiter."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 32 * 2**20
_SEPARATOR = re.compile(r'"?sep=([;,\t|])"?[ \t;,]*\r?\n', re.IGNORECASE)
"""A first line that tells Excel the delimiter."""
_SIGN = r"[^\x00-\x7f\w\s’–—]"
_ODD = re.compile(
    rf"[^\W\d_]{_SIGN}|{_SIGN}[a-z]|[ƒ\ufffd]|[a-zß-öø-ÿ][À-ÖØ-ÞŠŽŸŒ]|[^\W\d_][À-ÖØ-ÞŠŽŸŒ](?=[a-zß-öø-ÿ])"
)
"""Patterns that names do not contain, such as symbols beside letters or accented capitals within words."""
_FOOTER = re.compile(
    r"\W*(?:(?:grand )?total|gesamt|summe|end of (?:report|list|file|roster|table)|page \d"
    r"|(?:report |list )?(?:generated|printed|exported|created|run|as of|stand)\b.*\d"
    r"|(?:number of )?(?:students|records|rows|enrol\w*)\b\W*\d*$|\d+ (?:students|records|rows|enrol\w*))\b.*",
    re.IGNORECASE | re.DOTALL,
)


class RosterError(ValueError):
    """A table that is not a roster; the message says which, and what is wrong with it."""


def is_footer(row: tuple[str, ...]) -> bool:
    """Whether the last row of a table is a registrar's footer, such as `Total students: 60`."""
    said = [cell.strip() for cell in row if cell.strip()]
    return len(said) <= 2 and bool(said) and "@" not in "".join(said) and bool(_FOOTER.match(said[0]))


def rows_of(file: Path) -> Iterator[list[str]]:
    """Yield the rows of a table, the header first. Raises `RosterError` if it cannot be read."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise RosterError(f"{file} cannot be read ({error.strerror})") from None
    if len(data) > MOST_BYTES:
        raise RosterError(f"{file}: more than {MOST_BYTES >> 20} MiB are no roster")
    text = _text(data)
    if "\0" in text:
        raise RosterError(f"{file}: it is no text; save the table as CSV")
    said = _SEPARATOR.match(text)
    text = text[said.end() :] if said else text
    head = text.partition("\n")[0]
    delimiter = said[1] if said else max("\t;,", key=head.count)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=False)
    except csv.Error as error:
        raise RosterError(f"{file}: it is no table ({error})") from None


def _text(data: bytes) -> str:
    """Decode UTF-16 (Blackboard), UTF-8, or Excel's older ones for Windows or Mac, whichever gives plausible names."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        alphabets = (data.decode("cp1252", "replace"), data.decode("mac-roman"))
        return min(alphabets, key=lambda text: len(_ODD.findall(text)))
