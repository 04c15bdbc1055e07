"""Parses the names of files in exports of Brightspace, Canvas and GitHub: whose they are, and when they arrived.

Brightspace   123456-789012 - <name> - Nov 12, 2026 1054 PM/<file>, or all of it in a file's name, before ` -
    <file>`; the time is the server's, whose time zone the names do not give
Canvas        <name>_<user>_<attachment>_<file>
GitHub        <assignment>-<username>/.git
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from statistics import median_low

from autograder.moments import is_plausible
from autograder.wording import counted, enumeration, quoted, some

_WHEN = r"[^-]*\d{4},? \d{1,4}(?::\d\d)?(?: ?[AP]M)?"
BRIGHTSPACE = re.compile(
    rf"(?P<number>\d+)-\d+ - (?P<name>.+?) ?- (?P<when>{_WHEN})(?: - (?P<file>(?!(?:.* ?- )?{_WHEN}\Z).+))?",
    re.DOTALL | re.IGNORECASE,
)
"""No file ends in a time: in a folder's name the last time is Brightspace's, and an earlier one is the student's."""
CANVAS = re.compile(
    r"(?:(?P<late_unnamed>late)_(?=anon_[a-z0-9]{5}_))?"
    r"(?P<name>.*?)(?P<late>_late)?_(?P<user>\d+|(?:(?<=^anon_)|(?<=^late_anon_)|(?<=^anon_late_))[a-z0-9]{5})"
    r"_(?:(?P<attachment>\d+)_(?P<file>.+)|(?P<typed>(?:text|link)\.html))",
    re.DOTALL | re.IGNORECASE,
)
"""Typed-in text and addresses have no second number; anonymous students have letters for the first. A name without
letters is empty. `LATE` follows the name, and precedes `anon` if there is none, as in Canvas's lib/content_zipper.rb,
`get_filename`."""
_DAY = re.compile(
    r"(?:(?P<d1>\d{1,2}) (?P<m1>[a-z]{3})[a-z]*|(?P<m2>[a-z]{3})[a-z]*\.? (?P<d2>\d{1,2})),? (?P<year>\d{4}),? "
    r"(?P<hour>\d{1,2}?):?(?P<minute>\d\d)(?: ?(?P<half>[ap]m))?",
    re.IGNORECASE,
)
_LATER = re.compile(r"(?=_(?P<user>[1-9]\d{0,17})_(?:(?P<attachment>[1-9]\d{0,17})_.|(?:text|link)\.html$))")
"""Another place where the user's number may be in a name of Canvas."""
_FAR_BELOW = 100
"""A number smaller than usual attachment ids by this factor is not one: `7` in `7_vjps.py`, for example."""
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


class TwoUsers:
    """Files of Canvas that fit two users.

    Students choose the file's name, may be able to choose their own, and both may contain numbers between underscores:
    Canvas's lib/content_zipper.rb, `sanitize_user_name`, removes `_11_` from a name, but neither `_11` at its end nor
    `_-11-_`, which loses its dashes afterwards. So `annlee_11_12_901_ch01.py` fits annlee with the number 11, and
    annlee_11 with the number 12.
    """

    def __init__(self, names: Iterable[str]) -> None:
        found = [match for name in names if (match := CANVAS.fullmatch(name))]
        numbers = [match["attachment"] for match in found if match["attachment"]]
        usual = [int(number) for number in numbers if len(number) <= 18]
        self._least = median_low(usual) / _FAR_BELOW if usual else 0
        self._others = {match.string: others for match in found if (others := self._others_of(match))}

    def _others_of(self, match: re.Match[str]) -> list[str]:
        """The numbers of the other users that a file may be of."""
        if not match["user"].isdecimal():
            return []
        return [
            other["user"]
            for other in _LATER.finditer(match.string, match.end("user"))
            if re.fullmatch(r"\w+", match.string[: other.start()])
            and (other["attachment"] is None or int(other["attachment"]) >= self._least)
        ]

    def word_for(self, match: re.Match[str]) -> str:
        """Identifies the user of a file; different from the user's own word if the file may be another's."""
        return " or ".join([f"number {match['user']}", *self._others.get(match.string, [])])

    def remarks(self, folder: Path) -> list[str]:
        """A line on these files; none if there are none."""
        if not self._others:
            return []
        shown = [f"{quoted(name, 80)} (or of {enumeration(others, 'or')})" for name, others in self._others.items()]
        files = counted(len(shown), "file may be of more than one user", "files may be of more than one user each")
        return [f"{folder}: {files}, by the numbers that Canvas wrote into its name: {some(shown)}; see whose it is"]


def github_prefix(folder: Path, names: list[str], remarks: list[str]) -> str:
    """GitHub Classroom's prefix of each username: the assignment's name and a dash; empty if there is none.

    The folder's name says it (`ASSIGNMENT-submissions`, as `gh classroom clone` writes), or else it is what all
    repositories begin with. Usernames may begin alike, too, so a line is added to `remarks` where the prefix may be
    longer than the assignment's name.
    """
    if folder.name.endswith("-submissions"):
        return folder.name.removesuffix("submissions")
    repositories = [name for name in names if os.path.exists(folder / name / ".git")]
    if len(repositories) < 2 or len(repositories) * 2 <= len(names):  # a few may share a prefix by chance or on purpose
        return ""
    common = os.path.commonprefix(repositories)  # noqa: RUF071  # of strings, not paths
    prefix = common[: common.rfind("-") + 1]
    if "-" in prefix[:-1]:
        first = min(repositories)
        remarks.append(
            f"{folder}: all repositories begin with {quoted(prefix, 80)}, so {quoted(first, 80)} is of the student "
            f"{quoted(first.removeprefix(prefix), 80)}; if part of that is in the usernames, call the folder "
            "ASSIGNMENT-submissions, with the assignment's name"
        )
    return prefix
