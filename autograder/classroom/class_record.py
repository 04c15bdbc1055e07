"""The record in a folder of results: who handed in what, in which class folder, and the salt's fingerprint.

Results alone cannot tell a deleted hand-in from one in another class folder, such as another assignment's export.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.classroom.class_folder import ClassFolder
from autograder.classroom.earlier import EarlierFile
from autograder.classroom.hand_in_files import Unrecognised
from autograder.classroom.results_folder import RECORD, UNFINISHED, places, read_result, result_file
from autograder.judging.records.results import SubmissionResult, write_json
from autograder.judging.records.status import SubmissionStatus
from autograder.wording import clean, in_points

NOT_RECOGNISED: SubmissionStatus = "not recognised"
GONE: SubmissionStatus = "gone"
"""Statuses of rows without a counting result: a file that is not a lesson, and a result whose file was deleted."""
MOST_SHOWN = 200
"""At most this many characters of a file's name are shown in reports."""
BEFORE = ""
"""Key for the unknown folder of results older than the record."""

Place = tuple[str, str]
"""A student and a lesson."""


@dataclass(frozen=True, order=True)
class HandedIn:
    """When a hand-in arrived, as far as its platform says so."""

    at: str = ""
    """ISO 8601; empty if unknown."""
    late: bool = False
    """Whether the platform marks it as late, by its own due date."""


@dataclass
class _Folder:
    """The hand-ins of one class folder."""

    handed_in: set[Place] = field(default_factory=set)
    """The hand-ins whose results come from here; another folder may contain the same file."""
    times: dict[Place, HandedIn] = field(default_factory=dict)
    """When they arrived, where the platform says so."""
    previous: dict[Place, HandedIn] = field(default_factory=dict)
    """When a hand-in arrived that a newer one here has replaced."""
    earlier: list[EarlierFile] = field(default_factory=list)
    """Superseded attempts that are still in the folder."""
    given_up: dict[Place, str] = field(default_factory=dict)
    """Hand-ins whose result another folder's has replaced, with the hash of the file that was graded here."""
    not_recognised: list[Unrecognised] = field(default_factory=list)
    entries: frozenset[str] = frozenset()
    """The platform's identifiers of the entries, by which a later download is recognised."""


class ClassRecord:
    """The record in a folder of results. Without one, all results there count."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self.salt_sha256 = ""
        """The fingerprint of the salt that the class is graded with; empty if unknown."""
        self.course = ""
        """The title of the course of these lessons; empty if unknown."""
        self.problem = ""
        """A message if the record exists and cannot be read."""
        self._folders: dict[str, _Folder] = {}
        try:
            self._read(json.loads((results / RECORD).read_text(encoding="utf-8")))
        except FileNotFoundError:
            self._guess()
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.problem = f"{results / RECORD} cannot be read; grade each class folder again to make it new"
            self._guess()

    @property
    def has_results(self) -> bool:
        """Whether anything was graded."""
        return any(True for _ in places(self._results))

    @property
    def handed_in(self) -> set[Place]:
        """All gradable hand-ins, in any folder."""
        return set().union(*(folder.handed_in for folder in self._folders.values()))

    @property
    def times(self) -> dict[Place, HandedIn]:
        """When the hand-ins of all folders arrived, as far as platforms say so."""
        return {
            place: at
            for folder in self._folders.values()
            for place, at in folder.times.items()
            if place in folder.handed_in
        }

    @property
    def previous(self) -> dict[Place, HandedIn]:
        """When hand-ins arrived that others have replaced, as far as platforms say so."""
        return {place: at for folder in self._folders.values() for place, at in folder.previous.items()}

    @property
    def earlier(self) -> list[EarlierFile]:
        """The superseded attempts of all folders, without duplicates."""
        return list(dict.fromkeys(one for folder in self._folders.values() for one in folder.earlier))

    @property
    def not_recognised(self) -> list[Unrecognised]:
        """The ungraded files of all folders, without duplicates (two copies of a class may share some)."""
        rows = [row for folder in self._folders.values() for row in folder.not_recognised]
        return list(dict.fromkeys(rows))

    def elsewhere(self, class_folder: Path) -> int:
        """Number of submissions that were handed in only in other, known folders."""
        here = self._folders.get(self._name(class_folder), _Folder()).handed_in
        return len(self.handed_in - here) - self.unplaced

    @property
    def unplaced(self) -> int:
        """Number of results older than the record whose folder was not seen since."""
        return len(self._folders.get(BEFORE, _Folder()).handed_in)

    def owners(self, place: Place, *, beside: Path) -> list[str]:
        """The other known class folders whose hand-in has this result."""
        here = self._name(beside)
        others = (name for name, folder in self._folders.items() if place in folder.handed_in)
        return [name for name in others if name not in (here, BEFORE)]

    def entries_of(self, name: str) -> frozenset[str]:
        """The platform's identifiers of the entries in a class folder, given by its name from `owners`."""
        return self._folders[name].entries

    def entries_at(self, class_folder: Path) -> frozenset[str]:
        """The platform's identifiers of the entries last graded at this path."""
        return self._folders.get(self._name(class_folder), _Folder()).entries

    def give_up(self, place: Place, *, beside: Path, sha256: str) -> None:
        """Take a result away from all other class folders; `sha256` is the hash of the file that it is of."""
        here = self._name(beside)
        for name, folder in self._folders.items():
            if name != here and place in folder.handed_in:
                folder.handed_in.discard(place)
                folder.given_up[place] = sha256

    def was_given_up(self, place: Place, class_folder: Path, sha256: str) -> bool:
        """Whether another class folder's result has replaced the result of this very file."""
        folder = self._folders.get(self._name(class_folder), _Folder())
        return bool(sha256) and folder.given_up.get(place) == sha256

    def gone(self) -> list[Place]:
        """The results whose files are in none of the folders any more."""
        return sorted(set(places(self._results)) - self.handed_in)

    def note(self, class_folder: Path, found: ClassFolder) -> None:
        """Replace the record of this class folder by the current findings."""
        here = {(item.student, item.lesson) for item in found.work}
        before = self._folders.get(self._name(class_folder), _Folder())
        times = {
            (item.student, item.lesson): HandedIn(item.at, item.late) for item in found.work if item.at or item.late
        }
        known = self.times
        changed = {place: known[place] for place, at in times.items() if place in known and known[place].at != at.at}
        given_up = {place: sha256 for place, sha256 in before.given_up.items() if place not in here}
        previous = before.previous | changed
        self._folders[self._name(class_folder)] = _Folder(
            here, times, previous, found.earlier, given_up, found.not_recognised, found.entries
        )
        if older := self._folders.get(BEFORE):
            older.handed_in = older.handed_in & set(places(self._results)) - here

    def write(self) -> None:
        """Write the record. Raises `OSError` if it cannot be written."""
        folders = {
            name: {
                "handed_in": sorted(map(list, folder.handed_in)),
                "times": [[*place, at.at, at.late] for place, at in sorted(folder.times.items())],
                "previous": [[*place, at.at, at.late] for place, at in sorted(folder.previous.items())],
                "earlier": [[one.student, one.lesson, one.file, one.at] for one in folder.earlier],
                "given_up": [[*place, sha256] for place, sha256 in sorted(folder.given_up.items())],
                "not_recognised": [[row.student, row.file, row.why] for row in folder.not_recognised],
                "entries": sorted(folder.entries),
            }
            for name, folder in self._folders.items()
        }
        data = {"course": self.course, "salt_sha256": self.salt_sha256, "folders": folders}
        write_json(self._results / RECORD, data, scratch=self._results / UNFINISHED)

    def _read(self, data: Any) -> None:
        self.salt_sha256, self.course = _text(data["salt_sha256"]), _text(data.get("course", ""))
        for name, folder in data["folders"].items():
            self._folders[name] = _Folder(
                {(_text(student), _text(lesson)) for student, lesson in folder["handed_in"]},
                _times(folder.get("times", [])),
                _times(folder.get("previous", [])),
                [EarlierFile(*map(_text, row)) for row in folder.get("earlier", [])],
                {(_text(one), _text(lesson)): _text(sha256) for one, lesson, sha256 in folder.get("given_up", [])},
                [Unrecognised(_text(who), _text(file), _text(why)) for who, file, why in folder["not_recognised"]],
                frozenset(map(_text, folder.get("entries", []))),
            )

    def _guess(self) -> None:
        """Make up a record if there is none: all results count, with the first result's salt."""
        before = sorted(places(self._results))
        self._folders = {BEFORE: _Folder(set(before))} if before else {}
        found = (read_result(result_file(self._results, *place)) for place in before)
        self.salt_sha256 = next((result.salt_sha256 for result in found if result is not None), "")

    def _name(self, class_folder: Path) -> str:
        """A class folder's path relative to the results, so that both may be moved together."""
        path, start = os.path.realpath(class_folder), os.path.realpath(self._results)
        try:
            return os.path.relpath(path, start)
        except ValueError:  # on another drive
            return path


def unrecognised_result(row: Unrecognised) -> SubmissionResult:
    """A report row for a file that is not graded, without lesson or points."""
    file = clean(row.file, MOST_SHOWN)
    return _uncounted(row.student, "", file, NOT_RECOGNISED, f"{file}: {row.why}")


def gone_result(result: SubmissionResult) -> SubmissionResult:
    """A report row for a result whose file was deleted; it does not count."""
    points = f"{in_points(result.points)}/{in_points(result.max_points)}"
    what = f"{result.file} is no longer in the class folder; its {points} do not count"
    return _uncounted(result.student, result.lesson, result.file, GONE, what)


def _uncounted(student: str, lesson: str, file: str, status: SubmissionStatus, message: str) -> SubmissionResult:
    return SubmissionResult(student, lesson, file, "", "", "", 0.0, 0.0, status, clean(message, 300))


def _times(rows: Any) -> dict[Place, HandedIn]:
    return {(_text(one), _text(lesson)): HandedIn(_text(at), late is True) for one, lesson, at, late in rows}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
