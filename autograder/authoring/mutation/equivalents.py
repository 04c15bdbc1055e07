"""Reads the mutants that were proved equivalent: `autograder/lessons/<lesson>/equivalents.toml`.

An entry quotes the changed line before and after, as the report shows it, so that it stays valid when other lines
change, and becomes invalid when this one does. `why` proves in a sentence that no input allowed by the contract tells
the two apart. If several mutants of a function read the same, `nth`, from 1, says which one is meant.

`after = "*"` stands for all changes of a line that the checks accept, where the contract leaves the learner free, as in
initialising a network.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring.mutation.mutants import Mutant
from autograder.authoring.mutation.trials import SURVIVED, Outcome
from autograder.diagnosis import Edit

ANY = "*"
TEXTS = ("where", "before", "after", "why")


class EquivalentsError(ValueError):
    """A file of equivalents cannot be read; the message names the file and the entry."""


@dataclass(frozen=True)
class Equivalent:
    """An entry of the list: an edit of the reference, and why it is not a mistake."""

    change: Edit
    why: str
    nth: int = 1


def read_equivalents(path: Path) -> list[Equivalent]:
    """The entries of a file; none if there is no file. Raises `EquivalentsError`."""
    if not path.is_file():
        return []
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EquivalentsError(f"{path.name}: not TOML ({error})") from None
    entries = raw.get("equivalent", [])
    if set(raw) - {"equivalent"} or not isinstance(entries, list):
        raise EquivalentsError(f"{path.name}: it must consist of [[equivalent]] entries")
    return [_entry(path, number, entry) for number, entry in enumerate(entries, 1)]


def _entry(path: Path, number: int, entry: object) -> Equivalent:
    if not isinstance(entry, dict) or not set(TEXTS) <= set(entry) <= {*TEXTS, "nth"}:
        raise EquivalentsError(
            f"{path.name}: entry {number} must have {', '.join(TEXTS)}, perhaps nth, and no other key"
        )
    for key in TEXTS:
        if not isinstance(entry[key], str) or not entry[key].strip():
            raise EquivalentsError(f"{path.name}: {key} of entry {number} must be text")
    if type(entry.get("nth", 1)) is not int:
        raise EquivalentsError(f"{path.name}: nth of entry {number} must be a whole number")
    change = Edit(entry["where"], entry["before"], entry["after"])
    return Equivalent(change, entry["why"], entry.get("nth", 1))


def is_listed(mutant: Mutant, listed: Iterable[Equivalent]) -> bool:
    """Whether a mutant is on the list."""
    return any(_matches(mutant, entry) for entry in listed)


def out_of_date(listed: Iterable[Equivalent], outcomes: list[Outcome], mutants: Iterable[Mutant]) -> list[str]:
    """A sentence for each entry that is listed twice, matches no mutant, or matches a mutant that a check kills.

    Args:
        outcomes: of the mutants that were tried; entries about other functions are skipped.
        mutants: all mutants of the lesson.
    """
    known = {mutant.change.where for mutant in mutants}
    tried = {outcome.mutant.change.where for outcome in outcomes}
    problems, seen = [], set()
    for entry in listed:
        change, key = entry.change, (entry.change, entry.nth)
        what = f"{change.where}: {change.before}  ->  {change.after}"
        if key in seen:
            problems.append(f"{what}: it is listed twice")
            continue
        seen.add(key)
        if change.where in tried or change.where not in known:
            matched = [outcome for outcome in outcomes if _matches(outcome.mutant, entry)]
            killed = [outcome for outcome in matched if outcome.verdict != SURVIVED]
            if len(killed) == len(matched) and (change.after == ANY or not matched):
                problems.append(f"{what}: no mutant that survives reads like that")
            elif killed and change.after != ANY:
                problems.append(f"{what}: it is not equivalent, a check notices it ({killed[0].verdict})")
    return problems


def _matches(mutant: Mutant, entry: Equivalent) -> bool:
    if entry.change.after == ANY:
        return replace(mutant.change, after=ANY) == entry.change
    return (mutant.change, mutant.nth) == (entry.change, entry.nth)
