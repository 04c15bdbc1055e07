"""Parses the names of files in exports of Blackboard: whose they are, and when they arrived.

    <assignment>_<username>_attempt_2026-11-12-22-54-01_<file>, and for each attempt a receipt, the same without file
    and with .txt

The time is the server's, whose time zone the names do not give.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from autograder.moments import is_plausible
from autograder.wording import clean, counted, some

MOST_OF_A_RECEIPT = 64 * 2**10
"""Bytes read of a receipt; its first line names the student."""
BLACKBOARD = re.compile(
    r"(?P<before>.+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|(?P<receipt>\.txt))",
    re.DOTALL | re.IGNORECASE,
)
"""The first time is the platform's: a student's own file may be named like a classmate's attempt."""
_USER = re.compile(r"[(\uff08]([^()\uff08\uff09]+)[)\uff09]$")
"""The end of a receipt's first line, in any language: `Name: Ada Lovelace (al12)`, `Nombre: Ada Lovelace (al12)`."""


def blackboard_time(text: str) -> str:
    """`2026-11-12-22-54-01` in ISO 8601; empty if there is no such time."""
    try:
        when = datetime.strptime(text, "%Y-%m-%d-%H-%M-%S")
    except ValueError:
        return ""
    return when.isoformat() if is_plausible(when) else ""


class Usernames:
    """The usernames of attempts.

    A username and an assignment's name may both contain underscores, so a file's name alone does not tell where one
    ends and the other begins. A receipt does. Without receipts, what all attempts at an assignment begin with is taken
    as its name, and where that may be wrong, a line says so.
    """

    def __init__(self, names: Iterable[str], files: Iterable[Path]) -> None:
        """Read the receipts among `files`; skip unreadable ones.

        Args:
            names: of all entries.
        """
        found = [match for name in names if (match := BLACKBOARD.fullmatch(name))]
        self._by_attempt = _from_receipts(files)
        self._by_before: dict[str, set[str]] = defaultdict(set)
        for (before, _), user in self._by_attempt.items():
            self._by_before[before].add(user)
        self._guessed: dict[str, tuple[str, bool]] = {}
        """By what precedes `_attempt_`: the username, and whether no other is possible."""
        groups: dict[str, list[str]] = defaultdict(list)
        assignments = {before[: -len(user) - 1] for before, users in self._by_before.items() for user in users}
        for before in sorted({match["before"] for match in found} - self._by_before.keys()):
            fitting = sorted((one for one in assignments if before.startswith(f"{one}_")), key=len)
            if fitting and len(before) > len(fitting[0]) + 1:
                self._guessed[before] = before[len(fitting[0]) + 1 :], len(fitting) == 1
            else:
                groups[before.partition("_")[0]].append(before)
        for first, group in groups.items():
            begin = os.path.commonprefix(group) if len(group) > 1 else group[0]  # noqa: RUF071  # of strings, not paths
            begin = begin[: begin.rfind("_") + 1]
            for before in group:
                certain = before.count("_") < 2 or (len(group) > 1 and begin == f"{first}_")
                self._guessed[before] = before.removeprefix(begin) or before, certain

    def of(self, match: re.Match[str]) -> str:
        """The username of an attempt."""
        return self._found(match)[0]

    def word_for(self, match: re.Match[str]) -> str:
        """Identifies the user of an attempt; where the name is a guess, different from the user of that name."""
        user, certain = self._found(match)
        return f"user {user}" if certain else f"user {user}, by {match['before']}"

    def remarks(self, folder: Path) -> list[str]:
        """A line on usernames that were guessed and contain an underscore, or may; none if there are none."""
        guessed = [
            f"{clean(user)} of '{clean(before, 80)}'"
            for before, (user, _) in self._guessed.items()
            if before.count("_") > 1
        ]
        if not guessed:
            return []
        without = counted(len(guessed), "student has", "students have")
        return [
            f"{folder}: {without} no receipt (.txt) of Blackboard's, which gives the username, so it is guessed: "
            f"{some(guessed)}; if that is wrong, put the receipts there, too"
        ]

    def _found(self, match: re.Match[str]) -> tuple[str, bool]:
        before = match["before"]
        if user := self._by_attempt.get((before, match["when"])):
            return user, True
        users = self._by_before.get(before)
        if users:
            return min(users), len(users) == 1
        return self._guessed.get(before, (before, False))


def _from_receipts(files: Iterable[Path]) -> dict[tuple[str, str], str]:
    """Usernames by attempt: what precedes `_attempt_`, and the time."""
    users = {}
    for file in files:
        match = BLACKBOARD.fullmatch(file.name)
        if match and match["receipt"]:
            try:
                with file.open(encoding="utf-8-sig", errors="replace") as opened:
                    user = _user_in(opened.read(MOST_OF_A_RECEIPT))
            except OSError:
                continue
            before = unicodedata.normalize("NFC", match["before"])
            if user and before.endswith(f"_{user}") and len(before) > len(user) + 1:
                users[match["before"], match["when"]] = user
    return users


def _user_in(receipt: str) -> str:
    """The username in parentheses at the end of the first line, as Blackboard writes it; empty if there is none.

    What follows may be the student's own text, with other names in it.
    """
    match = _USER.search(receipt.lstrip().partition("\n")[0].rstrip())
    return unicodedata.normalize("NFC", match[1].strip()) if match else ""
