"""What a folder of results keeps about its class: the roster's tables, the rules, and what a teacher decided."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder.classroom.exports import Participants
from autograder.gradebook.overrides import OVERRIDES, Override, read_overrides
from autograder.gradebook.roster import Person, read_rosters, words_of
from autograder.gradebook.rules import RULES, Rules, read_rules
from autograder.moments import is_plausible

ROSTERS = ".rosters"
"""Where the tables that `backprop grade --roster` was given are kept, as they came; no student's name."""


@dataclass(frozen=True)
class ClassFiles:
    """All of it, read."""

    people: list[Person] = field(default_factory=list)
    rules: Rules = field(default_factory=Rules)
    overrides: list[Override] = field(default_factory=list)

    @classmethod
    def at(
        cls, results: Path, rosters: Iterable[Path] = (), rules: Path | None = None, overrides: Path | None = None
    ) -> ClassFiles:
        """What is given, with what lies in a folder of results beside it.

        Raises:
            RosterError: a roster cannot be read.
            TableError: a file of rules or overrides cannot be meant.
        """
        given = list(rosters)
        kept = [file for file in _kept(results) if file.name not in {one.name for one in given}]
        beside = results / RULES
        found = read_rules(rules or beside) if rules is not None or beside.is_file() else Rules()
        return cls(read_rosters([*kept, *given]), found, read_overrides(overrides or results / OVERRIDES))


def keep_rosters(results: Path, rosters: Iterable[Path]) -> None:
    """Keep tables in a folder of results; one of the same name is replaced. `OSError` if that cannot be."""
    for file in rosters:
        target = results / ROSTERS / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.resolve() != target.resolve():
            shutil.copyfile(file, target)


def participants(people: Iterable[Person]) -> Participants:
    """What Moodle's worksheets among the tables say of the numbers in its exports.

    Results are called by the name, as they are without a worksheet; namesakes by what else tells them apart.
    """
    listed = list(people)
    counts = Counter(person.words for person in listed)
    names: dict[str, str] = {}
    times: dict[str, str] = {}
    for person in listed:
        alone = counts[person.words] == 1
        for table, _, row in person.rows:
            said = dict(zip((title.strip().lower() for title in table.header), row, strict=False))
            number = re.search(r"\d+$", said.get("identifier", "").strip())
            if table.platform == "moodle" and number:
                if not alone:
                    names[number[0]] = f"{person.name} ({person.key})"
                times[number[0]] = moodle_time(said.get("last modified (submission)", ""))
    return Participants(names, {number: at for number, at in times.items() if at})


def moodle_time(text: str) -> str:
    """`Monday, 1 March 2027, 10:04 PM` in ISO 8601; empty for anything else. Worksheets do not say the zone."""
    _, _, day = text.strip().partition(", ")
    for form in ("%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M"):
        try:
            when = datetime.strptime(day, form)
        except ValueError:
            continue
        return when.isoformat() if is_plausible(when) else ""
    return ""


def namesakes_before(names: Iterable[str], before: Iterable[str]) -> list[str]:
    """A line for each name that others of the same words had in earlier exports, told apart by more than the name."""
    told_apart: dict[frozenset[str], list[str]] = {}
    for name in set(before):
        if match := re.fullmatch(r"(.+?)(?:_\d+| \([^()]+\))", name):
            told_apart.setdefault(words_of(match[1]), []).append(name)
    lines = []
    for name in sorted(set(names)):
        others = [one for one in sorted(told_apart.get(words_of(name), [])) if one != name]
        if others:
            lines.append(
                f"{name} may be one of {', '.join(others)}, of an earlier export: a name does not say which; grade "
                "with --roster and Moodle's grading worksheet, or rename the hand-in"
            )
    return lines


def _kept(results: Path) -> list[Path]:
    folder = results / ROSTERS
    found = [file for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
    return sorted(found, key=lambda file: (file.stat().st_mtime_ns, file.name))  # the last is the newest
