"""Reads the class's files in a folder of results: rosters, rules and the teacher's overrides."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from autograder.classroom.exports import Participants
from autograder.gradebook.overrides import OVERRIDES, Override, read_overrides
from autograder.gradebook.roster import Person, read_rosters, words_of
from autograder.gradebook.rules import RULES, Rules, read_rules
from autograder.judging.records.results import write_json
from autograder.moments import is_plausible

ROSTERS = ".rosters"
"""Folder of the tables given to `backprop grade --roster`, unchanged; not a student's name."""
ORDER = ".order.json"
"""File in that folder with the time each table was given, newest last; copying a file may lose its own time."""


@dataclass(frozen=True)
class ClassFiles:
    """The contents of the class's files."""

    people: list[Person] = field(default_factory=list)
    rules: Rules = field(default_factory=Rules)
    overrides: list[Override] = field(default_factory=list)

    @classmethod
    def at(
        cls, results: Path, rosters: Iterable[Path] = (), rules: Path | None = None, overrides: Path | None = None
    ) -> ClassFiles:
        """Read the given files and those in the folder of results.

        Raises:
            RosterError: a roster cannot be read.
            TableError: a file of rules or overrides has an error.
        """
        given = list(rosters)
        kept = [file for file in _kept(results) if file.name not in {one.name for one in given}]
        beside = results / RULES
        found = read_rules(rules or beside) if rules is not None or beside.is_file() else Rules()
        return cls(read_rosters([*kept, *given]), found, read_overrides(overrides or results / OVERRIDES))


def keep_rosters(results: Path, rosters: Iterable[Path]) -> None:
    """Keep copies of tables in a folder of results, replacing those of the same name. Raises `OSError` on failure."""
    given = list(rosters)
    if not given:
        return
    folder = results / ROSTERS
    folder.mkdir(parents=True, exist_ok=True)
    times = _times(folder)
    for file in given:
        target = folder / file.name
        if file.resolve() != target.resolve():
            shutil.copyfile(file, target)
        times.pop(file.name, None)
        times[file.name] = max(datetime.now(UTC), *times.values()) if times else datetime.now(UTC)
    write_json(folder / ORDER, {"kept": [[name, at.isoformat()] for name, at in times.items()]})


def participants(people: Iterable[Person]) -> Participants:
    """Names and times for the numbers in Moodle's exports, from Moodle's worksheets among the tables; shared names.

    A student's results are named as they are without a worksheet; namesakes get an id as well.
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
    dated = {number: at for number, at in times.items() if at}
    return Participants(names, dated, lambda name: counts[words_of(name)] > 1)


def moodle_time(text: str) -> str:
    """`Monday, 1 March 2027, 10:04 PM` in ISO 8601; empty for anything else. Worksheets do not give the time zone."""
    _, _, day = text.strip().partition(", ")
    for form in ("%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M"):
        try:
            when = datetime.strptime(day, form)
        except ValueError:
            continue
        return when.isoformat() if is_plausible(when) else ""
    return ""


def namesakes_before(names: Iterable[str], before: Iterable[str]) -> list[str]:
    """A line for each name that may mean one of several students of earlier exports, distinguished there by an id."""
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
    return [folder / name for name in _times(folder)] if folder.is_dir() else []


def _times(folder: Path) -> dict[str, datetime]:
    """When each kept table was given, newest last; the file's own time if none is recorded."""
    files = {file.name: file for file in folder.iterdir() if file.is_file() and ORDER not in file.name}
    try:
        kept = json.loads((folder / ORDER).read_bytes())["kept"]
        noted = {str(name): datetime.fromisoformat(at).astimezone(UTC) for name, at in kept}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        noted = {}
    times = {name: at for name, at in noted.items() if name in files}
    others = sorted(files.keys() - times)
    times |= {name: datetime.fromtimestamp(files[name].stat().st_mtime, UTC) for name in others}
    return dict(sorted(times.items(), key=lambda pair: pair[1]))
