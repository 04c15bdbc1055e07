"""Finds the students' hand-ins in a class folder, which has our layout or that of a platform's export.

    ours                CLASS/<student>/, or CLASS/<student>.zip
    Canvas              CLASS/<name>_<user>_<attachment>_<file>, with _LATE before the numbers if late; of unnamed
                        students CLASS/anon_<letters>_<attachment>_<file>, with LATE_ before that if late
    Moodle              CLASS/<name>_<number>_assignsubmission_file_/<file>, or all of it in a file's name
    Gradescope          CLASS/submission_<number>/, with the students listed in CLASS/submission_metadata.yml
    Brightspace         CLASS/<number>-<number> - <name> - <date>/<file>, or all of it in a file's name
    Blackboard          CLASS/<assignment>_<username>_attempt_<date>_<file>, beside receipts that end in .txt
    GitHub Classroom    CLASS/<assignment>-<username>/, Git repositories, with CLASS called <assignment>-submissions
    nbgrader            CLASS/<student>/<assignment>/<file>, with CLASS called submitted

A student gets the same name in every export of a platform as far as possible: with Canvas `name_user`, with Moodle the
name alone (its number differs between assignments), with Gradescope the mail address, with Brightspace the name (and
its number for namesakes), with Blackboard and GitHub the username.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.classroom.blackboard_names import BLACKBOARD, Usernames, blackboard_time
from autograder.classroom.gradescope_list import listed_in
from autograder.classroom.lesson_names import copy_number, lessons_named
from autograder.classroom.platform_names import BRIGHTSPACE, CANVAS, TwoUsers, brightspace_time, github_prefix
from autograder.classroom.results_folder import HIDDEN, RECORD
from autograder.classroom.student_names import UNKNOWN, as_folder
from autograder.submission import NOTEBOOKS, SCRIPTS, stem_of
from autograder.wording import counted

METADATA = "submission_metadata.yml"
SYSTEM = ("__MACOSX", "__pycache__", ".git", ".github", ".ipynb_checkpoints", ".DS_Store")
"""Names that systems and programs put into a class folder, in addition to those that begin with `._`."""
NBGRADER = "submitted"

MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)", re.DOTALL)
ARCHIVES = (".7z", ".rar", ".tar", ".tar.bz2", ".tar.gz", ".tar.xz", ".tgz")
"""Archives that are not opened."""
OF_NO_RESULTS = (*(ending for ending in (*NOTEBOOKS, *SCRIPTS) if ending != ".json"), ".zip")
OF_RESULTS = f"it has the {RECORD} of a folder of results; remove that file, or the folder"
CALLED = "student is called", "students are called"
ATTEMPT = re.compile(r"-\d{1,3}(?=\.[^.]+$)")
"""Canvas's suffix for the name of a file that is handed in again."""


@dataclass(frozen=True, slots=True)
class Participants:
    """What a roster says of students: of Moodle's, by participant numbers, which differ between assignments."""

    names: Mapping[str, str] = field(default_factory=dict)
    """The student's name in the results, distinct for namesakes and the same in every assignment."""
    times: Mapping[str, str] = field(default_factory=dict)
    """When they handed in, ISO 8601."""
    is_shared: Callable[[str], bool] = lambda name: False
    """Whether several people of the roster have this name."""


@dataclass(frozen=True, slots=True)
class HandIn:
    """What one student handed in: a folder or a single file."""

    student: str
    path: Path
    name: str = ""
    """The student's name for the file; empty for a folder."""
    note: str = ""
    """A remark of the platform."""
    copy: int = 0
    """The copy number in the file's name; the highest is the latest."""
    why: str = ""
    """Why it is not read; empty if it is."""
    turn: tuple[str, int] = ("", 0)
    """Sort key among a student's attempts; the last counts."""
    late: bool = False
    """Whether the platform marks it as late."""
    at: str = ""
    """When it arrived, ISO 8601; empty if the platform does not say."""
    of: str = ""
    """Identifies the student: the platform's identifier or the entry's name. Two students may have the same name."""
    key: str = ""
    """The platform's part of the entry's name, without the part that the student chose; empty if there is none."""
    perhaps: bool = False
    """Whether it counts as a hand-in only if it contains something to grade, because its name looks like a system's."""


def hand_ins_of(
    folder: Path, left_out: Iterable[tuple[str, str]] = (), participants: Participants | None = None
) -> tuple[list[HandIn], list[str]]:
    """The hand-ins in a class folder, and a remark for each entry that is not one.

    Args:
        left_out: entries not unpacked from the archive: their path relative to `folder`, and why.
        participants: names for Moodle's numbers, from a grading worksheet.

    Raises:
        OSError: the folder cannot be read.
    """
    with os.scandir(folder) as found:
        entries = sorted((entry for entry in found if not _is_systems(entry.name)), key=lambda entry: entry.name)
    remarks: list[str] = []
    folders: list[Path] = []
    files: list[Path] = []
    links: list[Path] = []
    for entry in entries:
        path = folder / entry.name
        if entry.is_symlink():  # first: `is_dir` fails for a link to itself
            links.append(path)
        elif entry.is_dir():
            folders.append(path)
        elif entry.name != METADATA:
            files.append(path)
    missing = [(_parts(name), name, why) for name, why in left_out]
    below = [parts[0] for parts, _, _ in missing if len(parts) > 1]
    there = {*below, *(path.name for path in (*folders, *links))}
    beside = [parts[0] for parts, _, _ in missing if len(parts) == 1]
    named = _Students(folder, folders, files, below, beside, remarks, participants or Participants())
    hand_ins = [
        HandIn(student, path, turn=named.turn(path), perhaps=is_hidden(path.name), at=named.at(path))
        if not _is_of_results(path)
        else HandIn(student, path, ".", why=OF_RESULTS)
        for path in folders
        for student in named.of_folder(path)
    ]
    for path in files:
        hand_in = named.of_file(path)
        if hand_in is not None:
            hand_ins.append(hand_in)
        elif not path.name.startswith(HIDDEN) and not named.is_platforms(path.name):
            remarks.append(f"{path}: not a student's folder; passed over")
    why = "a link, which is not followed; put there what it leads to"
    hand_ins += [
        HandIn(who, path, ".", why=why) for path in links if path.name != METADATA for who in named.of_folder(path)
    ]
    why = f"{METADATA} lists it, and it is not there; export the submissions again"
    hand_ins += [HandIn(who, folder / name, ".", why=why) for name, who in named.listed() if name not in there]
    for parts, name, why in missing:
        if any(map(_is_systems, parts)):
            remarks.append(f"{folder}/{name}: {why}; passed over")
        else:
            students, file = named.of_entry(parts)
            hand_ins += [
                HandIn(student, folder / parts[0] if parts else folder, file or name, why=why) for student in students
            ]
    return [
        replace(one, of=named.word_for(one.path.name), key=named.key_for(one.path.name)) for one in hand_ins
    ], remarks


def _is_of_results(folder: Path) -> bool:
    """Whether a folder has the record of a folder of results, and no file that such a folder never has."""
    if MOODLE.fullmatch(folder.name) or not os.path.isfile(folder / RECORD):
        return False
    walked = os.walk(folder)
    return not any(
        name.lower().endswith(OF_NO_RESULTS) or name == ".git"
        for _, below, files in walked
        for name in (*below, *files)
    )


def _is_systems(name: str) -> bool:
    return name in SYSTEM or name.startswith("._")


def is_hidden(name: str) -> bool:
    """Whether a name looks like one of a system or program and not like a platform's."""
    return name.startswith(HIDDEN) and not (MOODLE.fullmatch(name) or CANVAS.fullmatch(name))


def _parts(name: str) -> list[str]:
    """The parts of an archive entry's path; empty if it leads out of the folder."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    return [] if ".." in parts or name.startswith(("/", "\\")) else parts


class _Students:
    """Maps entries of a class folder to students' names."""

    def __init__(
        self,
        folder: Path,
        folders: list[Path],
        files: list[Path],
        below: list[str],
        beside: list[str],
        remarks: list[str],
        participants: Participants,
    ) -> None:
        names = [*(path.name for path in (*folders, *files)), *below, *beside]
        alone = [name for name in (*beside, *(path.name for path in files)) if not BLACKBOARD.fullmatch(name)]
        self._flat = sum(1 for name in alone if CANVAS.fullmatch(name)) >= len(folders)
        self._of_blackboard = bool(files) and all(BLACKBOARD.fullmatch(path.name) for path in files)
        self._participants = participants
        self._usernames = Usernames(names, files)
        attempts = [match for path in files if (match := BLACKBOARD.fullmatch(path.name)) and not match["receipt"]]
        self._attached = {(match["before"], match["when"]) for match in attempts}
        self._of_brightspace = any(BRIGHTSPACE.fullmatch(name) for name in names)
        self._submitters, self._turns = listed_in(folder / METADATA, {path.name for path in folders}, remarks)
        numbers = _namesakes(names, MOODLE)
        self._namesakes = set(numbers)
        several = _namesakes(names, BRIGHTSPACE)
        remarks += [
            f"{folder}: {counted(len(found), *CALLED)} {name}; Brightspace's first number tells them apart"
            for name, found in sorted(several.items())
        ]
        self._numbered = set(several)
        unknown = {name for name in self._namesakes if not numbers[name] <= participants.names.keys()}
        remarks += [
            f"{folder}: {counted(len(numbers[name]), *CALLED)} {name}; Moodle's number tells them apart, and is "
            "another in each assignment; with --roster and its grading worksheet, results of all are one student's"
            for name in sorted(unknown - {"Participant"})
        ]
        self._two_users = TwoUsers(alone if self._flat else ())
        remarks += [*self._usernames.remarks(folder), *self._two_users.remarks(folder)]
        self._prefix = github_prefix(folder, names, remarks)

    def listed(self) -> list[tuple[str, str]]:
        """The folders and students in Gradescope's list."""
        return [(folder, student) for folder, students in self._submitters.items() for student in students]

    def turn(self, path: Path) -> tuple[str, int]:
        """When a folder was handed in, by Gradescope's list or its own name, as a sort key."""
        if match := BRIGHTSPACE.fullmatch(path.name):
            return brightspace_time(match["when"]), 0
        return self._turns.get(path.name, ("", 0))

    def at(self, path: Path) -> str:
        """When a folder was handed in, ISO 8601; empty if the platform does not say."""
        match = MOODLE.fullmatch(path.name)
        return self._participants.times.get(match["number"], "") if match else self.turn(path)[0]

    def of_folder(self, path: Path) -> list[str]:
        """The students whose folder this is; several if they handed in together."""
        if path.name in self._submitters:
            return self._submitters[path.name]
        if match := MOODLE.fullmatch(path.name):
            return [self._moodle(match)]
        if match := BRIGHTSPACE.fullmatch(path.name):
            return [self._brightspace(match)]
        return [as_folder(path.name.removeprefix(self._prefix))]

    def word_for(self, name: str) -> str:
        """Identifies the student of an entry: the platform's number or user, or else the entry's name."""
        if name in self._submitters:
            return "Gradescope's list"
        match = self._platform(name)[1] or MOODLE.fullmatch(name) or BRIGHTSPACE.fullmatch(name)
        if match is None:
            return name
        if match.re is BLACKBOARD:
            return self._usernames.word_for(match)
        return self._two_users.word_for(match) if match.re is CANVAS else f"number {match['number']}"

    def key_for(self, name: str) -> str:
        """The platform's part of an entry's name, before the part that the student chose; "" for other entries."""
        if name in self._submitters:
            return name
        match = self._platform(name)[1] or MOODLE.fullmatch(name) or BRIGHTSPACE.fullmatch(name)
        if match is None or (match.re is CANVAS and match["typed"]):  # typed-in text has no number of its own
            return ""
        return name[: _student_part_start(match)] if _student_part_start(match) > 0 else name

    def of_entry(self, parts: list[str]) -> tuple[list[str], str]:
        """The students of an archive's entry that was not unpacked, and its path below their folder, if it has one."""
        if len(parts) > 1:
            return self.of_folder(Path(parts[0])), "/".join(parts[1:])
        found = self.of_file(Path(parts[0])) if parts else None
        return [found.student if found else UNKNOWN], ""

    def of_file(self, path: Path) -> HandIn | None:
        """A file beside the students' folders as a hand-in; None if it is not one."""
        platform, match = self._platform(path.name)
        if match is not None and platform is MOODLE:
            return _file_hand_in(self._moodle(match), path, match["file"], at=self.at(path))
        if match is not None and platform is BLACKBOARD:
            return self._blackboard(match, path)
        if match is not None and platform is BRIGHTSPACE:
            at = brightspace_time(match["when"])
            return _file_hand_in(self._brightspace(match), path, match["file"], at=at, turn=(at, 0))
        if match is not None:
            late = bool(match["late"] or match["late_unnamed"])
            note = "Canvas says that this was handed in late." if late else ""
            student = as_folder(f"{match['name']}_{match['user']}")
            name = match["file"] or match["typed"]
            return _file_hand_in(student, path, _without_attempt(name), note, of=name, late=late)
        if path.suffix.lower() == ".zip":
            return _file_hand_in(as_folder(path.stem), path, path.name)
        ending = next((ending for ending in ARCHIVES if path.name.lower().endswith(ending)), "")
        if ending and not path.name.startswith(HIDDEN):
            student = as_folder(path.name[: -len(ending)])
            return HandIn(student, path, path.name, why="an archive that is no zip; hand in the files themselves")
        stem = stem_of(path.name)
        if not stem or (path.name.startswith(HIDDEN) and not lessons_named(stem)):
            return None
        return _file_hand_in(UNKNOWN, path, path.name)

    def _platform(self, name: str) -> tuple[re.Pattern[str], re.Match[str] | None]:
        """The platform that named a file, and the match of its pattern.

        The name ends in a part that the student chose and that may look like another platform's, so the pattern whose
        own part ends first wins. Among Blackboard's files, an assignment's name may look like Canvas's, so there
        Blackboard wins.
        """
        platforms = (MOODLE, BRIGHTSPACE, BLACKBOARD, *([CANVAS] if self._flat else []))
        found = [(one, match) for one in platforms if (match := one.fullmatch(name)) and _student_part_start(match) > 0]
        if self._of_blackboard:
            found = [(one, match) for one, match in found if one is BLACKBOARD] or found
        return min(found, key=lambda pair: _student_part_start(pair[1]), default=(CANVAS, None))

    def is_platforms(self, name: str) -> bool:
        """Whether a file is a platform's own: a list or a receipt."""
        platform, match = self._platform(name)
        return bool(match and platform is BLACKBOARD and match["receipt"]) or (
            self._of_brightspace and name == "index.html"
        )

    def _blackboard(self, match: re.Match[str], path: Path) -> HandIn | None:
        student = as_folder(self._usernames.of(match))
        at = blackboard_time(match["when"])
        if match["receipt"]:
            why = "no file was attached; what was typed into Blackboard is not graded"
            attached = (match["before"], match["when"]) in self._attached
            return None if attached else HandIn(student, path, path.name, why=why, at=at)
        return _file_hand_in(student, path, match["file"], at=at, turn=(at, 0))

    def _brightspace(self, match: re.Match[str]) -> str:
        name = as_folder(match["name"])
        shared = name in self._numbered or self._participants.is_shared(match["name"])
        return as_folder(f"{name}_{match['number']}") if shared else name

    def _moodle(self, match: re.Match[str]) -> str:
        name = as_folder(match["name"])
        if known := self._participants.names.get(match["number"]):
            return as_folder(known)
        return as_folder(f"{name}_{match['number']}") if name in self._namesakes | {"Participant"} else name


def _file_hand_in(
    student: str,
    path: Path,
    name: str,
    note: str = "",
    *,
    of: str | None = None,
    late: bool = False,
    at: str = "",
    turn: tuple[str, int] = ("", 0),
) -> HandIn:
    """A file as a hand-in. `of`: its name with the platform's copy number."""
    return HandIn(student, path, name, note, copy_number(stem_of(of or name) or ""), turn=turn, late=late, at=at)


def _student_part_start(match: re.Match[str]) -> int:
    """Index at which the student's part of a file's name begins; -1 if there is none."""
    groups = match.re.groupindex.keys() & {"file", "typed", "receipt"}
    return max(match.start(group) for group in groups)


def _namesakes(names: Iterable[str], platform: re.Pattern[str]) -> dict[str, set[str]]:
    """By name that several students share: their numbers on the platform."""
    numbers = defaultdict(set)
    for name in names:
        if match := platform.fullmatch(name):
            numbers[as_folder(match["name"])].add(match["number"])
    return {name: found for name, found in numbers.items() if len(found) > 1}


def _without_attempt(name: str) -> str:
    """A file's name without Canvas's attempt number, unless the number decides which lesson it is."""
    shorter = ATTEMPT.sub("", name)
    return shorter if lessons_named(stem_of(shorter) or "") == lessons_named(stem_of(name) or "") else name
