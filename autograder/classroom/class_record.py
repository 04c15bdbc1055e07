"""What a folder of results remembers of the class: who handed in what, in which folder, and the salt's fingerprint.

Results alone do not tell a hand-in that is gone from one that lies in another folder, as each assignment's export does.
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
"""Statuses of what has no result that counts: a file that is no lesson, and a result whose file is no longer there."""
MOST_SHOWN = 200
"""Characters of a file's name that a report shows."""
BEFORE = ""
"""The folder of results that are older than the record: which it was is not known."""

Place = tuple[str, str]
"""A student and a lesson."""


@dataclass(frozen=True, order=True)
class HandedIn:
    """When a hand-in came, as far as its platform says it."""

    at: str = ""
    """ISO 8601; empty if nobody says."""
    late: bool = False
    """Whether the platform says that it was late, by whatever it knows of due dates."""


@dataclass
class _Folder:
    """What was handed in, in one class folder."""

    handed_in: set[Place] = field(default_factory=set)
    """What has its result from here; the same file may lie in another folder, too."""
    times: dict[Place, HandedIn] = field(default_factory=dict)
    """When it came, where the platform says something about that."""
    previous: dict[Place, HandedIn] = field(default_factory=dict)
    """When what lay there came before it was replaced by what came at another time."""
    earlier: list[EarlierFile] = field(default_factory=list)
    """Attempts that lie beside those that count."""
    given_up: dict[Place, str] = field(default_factory=dict)
    """What was handed in here and replaced by another folder's, with the hash of the file that was graded."""
    not_recognised: list[Unrecognised] = field(default_factory=list)
    entries: frozenset[str] = frozenset()
    """What a platform called what lay there, by which a later download of it is known."""


class ClassRecord:
    """The record in a folder of results. Without one, all results there count."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self.salt_sha256 = ""
        """The fingerprint of the salt that the class is graded with; empty if none was noted."""
        self.course = ""
        """What the course calls itself whose lessons these are; empty where that was not noted."""
        self.problem = ""
        """A line where there is a record that cannot be read."""
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
        """All that was handed in, in any folder, and can be graded."""
        return set().union(*(folder.handed_in for folder in self._folders.values()))

    @property
    def times(self) -> dict[Place, HandedIn]:
        """When hand-ins came, of all folders, as far as platforms say it."""
        return {
            place: at
            for folder in self._folders.values()
            for place, at in folder.times.items()
            if place in folder.handed_in
        }

    @property
    def previous(self) -> dict[Place, HandedIn]:
        """When those hand-ins came that others have replaced, as far as platforms said it."""
        return {place: at for folder in self._folders.values() for place, at in folder.previous.items()}

    @property
    def earlier(self) -> list[EarlierFile]:
        """The attempts that lie beside those that count, of all folders, each once."""
        return list(dict.fromkeys(one for folder in self._folders.values() for one in folder.earlier))

    @property
    def not_recognised(self) -> list[Unrecognised]:
        """The files that were handed in and are not graded, of all folders; what two copies of a class share, once."""
        rows = [row for folder in self._folders.values() for row in folder.not_recognised]
        return list(dict.fromkeys(rows))

    def elsewhere(self, class_folder: Path) -> int:
        """How many submissions were handed in, in other folders alone that are known."""
        here = self._folders.get(self._name(class_folder), _Folder()).handed_in
        return len(self.handed_in - here) - self.unplaced

    @property
    def unplaced(self) -> int:
        """How many results are older than the record, and of no folder that was seen since."""
        return len(self._folders.get(BEFORE, _Folder()).handed_in)

    def owners(self, place: Place, *, beside: Path) -> list[str]:
        """The other class folders whose hand-in has the result, as far as they are known."""
        here = self._name(beside)
        others = (name for name, folder in self._folders.items() if place in folder.handed_in)
        return [name for name in others if name not in (here, BEFORE)]

    def entries_of(self, name: str) -> frozenset[str]:
        """What a platform called what lay in a class folder, which is named as `owners` names it."""
        return self._folders[name].entries

    def entries_at(self, class_folder: Path) -> frozenset[str]:
        """What a platform called what lay at this path when it was graded before."""
        return self._folders.get(self._name(class_folder), _Folder()).entries

    def give_up(self, place: Place, *, beside: Path, sha256: str) -> None:
        """Let no other class folder have this result any more; `sha256` is of the file that it was of."""
        here = self._name(beside)
        for name, folder in self._folders.items():
            if name != here and place in folder.handed_in:
                folder.handed_in.discard(place)
                folder.given_up[place] = sha256

    def was_given_up(self, place: Place, class_folder: Path, sha256: str) -> bool:
        """Whether this very file had its result replaced by that of another class folder."""
        folder = self._folders.get(self._name(class_folder), _Folder())
        return bool(sha256) and folder.given_up.get(place) == sha256

    def gone(self) -> list[Place]:
        """The results whose files are in none of the folders any more."""
        return sorted(set(places(self._results)) - self.handed_in)

    def note(self, class_folder: Path, found: ClassFolder) -> None:
        """Let what was found now replace what was in the same class folder before."""
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
        """Write the record. `OSError` if that cannot be."""
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
        """Where nothing is recorded: all results count, and their salt is that of the first."""
        before = sorted(places(self._results))
        self._folders = {BEFORE: _Folder(set(before))} if before else {}
        found = (read_result(result_file(self._results, *place)) for place in before)
        self.salt_sha256 = next((result.salt_sha256 for result in found if result is not None), "")

    def _name(self, class_folder: Path) -> str:
        """A class folder as seen from the results: both may be moved together."""
        path, start = os.path.realpath(class_folder), os.path.realpath(self._results)
        try:
            return os.path.relpath(path, start)
        except ValueError:  # another drive
            return path


def unrecognised_result(row: Unrecognised) -> SubmissionResult:
    """A file that is not graded, as reports show it: no lesson, no points."""
    file = clean(row.file, MOST_SHOWN)
    return _uncounted(row.student, "", file, NOT_RECOGNISED, f"{file}: {row.why}")


def gone_result(result: SubmissionResult) -> SubmissionResult:
    """A result whose file is no longer there, as reports show it: it does not count."""
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
