"""Parses the names of files in exports of Brightspace and Blackboard: whose they are, and when they arrived.

    Brightspace   123456-789012 - <name> - Nov 12, 2026 1054 PM/<file>, or all of it in a file's name, before ` -
        <file>`
    Blackboard    <assignment>_<username>_attempt_2026-11-12-22-54-01_<file>, and a receipt without file, as .txt

Each attempt has its own time, in the server's time zone, which the names do not give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.moments import is_plausible

MOST_OF_A_RECEIPT = 64 * 2**10
"""Bytes read of a receipt; its first line names the student."""
BRIGHTSPACE = re.compile(
    r"(?P<number>\d+)-\d+ - (?P<name>.+?) ?- (?P<when>[^-]*\d{4},? \d{1,4}(?::\d\d)?(?: ?[AP]M)?)(?: - (?P<file>.+))?",
    re.DOTALL | re.IGNORECASE,
)
BLACKBOARD = re.compile(
    r"(?P<before>.+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|(?P<receipt>\.txt))",
    re.DOTALL | re.IGNORECASE,
)
"""The first time is the platform's: a student's own file may be named like a classmate's attempt."""
_DAY = re.compile(
    r"(?:(?P<d1>\d{1,2}) (?P<m1>[a-z]{3})[a-z]*|(?P<m2>[a-z]{3})[a-z]*\.? (?P<d2>\d{1,2})),? (?P<year>\d{4}),? "
    r"(?P<hour>\d{1,2}?):?(?P<minute>\d\d)(?: ?(?P<half>[ap]m))?",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def brightspace_time(text: str) -> str:
    """`12 November, 2026 1054 PM` or `Nov 12, 2026 1054 PM` in ISO 8601; empty for dates in other languages."""
    match = _DAY.fullmatch(text.strip())
    if match is None or (month := (match["m1"] or match["m2"]).lower()) not in _MONTHS:
        return ""
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    hour = hour % 12 + (12 if half == "pm" else 0) if half else hour
    try:
        day = int(match["d1"] or match["d2"])
        when = datetime(int(match["year"]), _MONTHS.index(month) + 1, day, hour, int(match["minute"]))
    except ValueError:
        return ""
    return when.isoformat() if is_plausible(when) else ""


def blackboard_time(text: str) -> str:
    """`2026-11-12-22-54-01` in ISO 8601; empty if there is no such time."""
    try:
        when = datetime.strptime(text, "%Y-%m-%d-%H-%M-%S")
    except ValueError:
        return ""
    return when.isoformat() if is_plausible(when) else ""


@dataclass(frozen=True)
class Receipts:
    """Usernames from Blackboard's receipts, needed because a username may contain an underscore."""

    users: dict[str, str]
    """By the prefix of an attempt's file names: the username."""

    @classmethod
    def among(cls, files: Iterable[Path]) -> Receipts:
        """Read the receipts among the files; skip unreadable ones."""
        users = {}
        for file in files:
            match = BLACKBOARD.fullmatch(file.name)
            if match and match["receipt"]:
                try:
                    with file.open(encoding="utf-8", errors="replace") as opened:
                        user = _user_in(opened.read(MOST_OF_A_RECEIPT))
                except OSError:
                    continue
                if user and match["before"].endswith(f"_{user}"):  # a student may have forged the receipt
                    users[match["before"]] = user
        return cls(users)

    def user(self, match: re.Match[str]) -> str:
        """The username of a file of Blackboard's."""
        return self.users.get(match["before"], match["before"].rpartition("_")[2] or match["before"])


def _user_in(receipt: str) -> str:
    """The username in the line `Name: Ada Lovelace (al12)`; empty if there is none."""
    for line in receipt.split("\n"):
        _, name, who = line.rstrip().partition("Name:")
        begin = who.rfind("(") + 1
        if name and begin and who.endswith(")") and ")" not in who[begin:-1] and (user := who[begin:-1].strip()):
            return user
    return ""
