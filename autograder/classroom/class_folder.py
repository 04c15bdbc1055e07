"""Reads a class folder, or a platform's zip: which files are graded as which lesson, and which are not."""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.classroom import called_alike
from autograder.classroom.archives import OF_A_CLASS, unpack
from autograder.classroom.candidates import NO_LESSON, OURS, UNTOUCHED, Candidate, Reader, choose, recognised
from autograder.classroom.class_level import class_in
from autograder.classroom.earlier import EarlierFile
from autograder.classroom.exports import NBGRADER, HandIn, Participants, hand_ins_of
from autograder.classroom.hand_in_files import (
    MOST_ROWS,
    REST,
    Aside,
    Unpacker,
    Unrecognised,
    files_of,
    is_repository,
    nothing_of,
    work_among,
)
from autograder.classroom.lesson_names import lessons_named
from autograder.classroom.student_names import UNKNOWN
from autograder.judging.records.results import SubmissionResult
from autograder.moments import moment_of
from autograder.submission import SubmissionError, read_bytes, stem_of
from autograder.wording import clean, counted, some

TIMESTAMP = "timestamp.txt"
"""The file in which nbgrader keeps the time of a hand-in."""
OF_A_COURSE = ("nbgrader_config.py", "gradebook.db")
"""Files beside `submitted` in nbgrader's course folder, where students cannot write."""


@dataclass(frozen=True, slots=True)
class Work:
    """One file to grade."""

    lesson: str
    student: str
    file: Path
    remark: str = ""
    """How the file was found, for the result's message."""
    at: str = ""
    """When it was handed in, ISO 8601; empty if the platform does not say."""
    late: bool = False
    """Whether the platform marks it as late."""
    before: SubmissionResult | None = field(default=None, compare=False, repr=False)
    """The result of the same file from another version of the grader; exercises with unchanged checks keep theirs."""


@dataclass
class ClassFolder:
    """The content of a class folder."""

    work: list[Work] = field(default_factory=list)
    """By student and lesson."""
    not_recognised: list[Unrecognised] = field(default_factory=list)
    """By student."""
    earlier: list[EarlierFile] = field(default_factory=list)
    """Attempts superseded by a later one."""
    remarks: list[str] = field(default_factory=list)
    """A line for each entry that is not a student's hand-in."""
    claimed: list[Unrecognised] = field(default_factory=list)
    """The rows of `not_recognised` for work whose result belongs to another class folder."""
    entries: frozenset[str] = frozenset()
    """The platform's identifiers of the entries, if it named more than half of them (`downloads`)."""
    given_up: int = 0
    """Number of unchanged hand-ins whose result another class folder's has replaced."""


def find_work(
    folder: Path,
    *,
    scratch: Path | None = None,
    export: bool | None = None,
    participants: Participants | None = None,
    at_student: Callable[[str], None] | None = None,
) -> ClassFolder:
    """Find the submissions in `folder`, which may be a zip, and the files that are not submissions.

    A file that can only be one lesson, by its name or by the exercises in it, is that lesson. Files are parsed only if
    their names and the marks in them do not decide, so that a class of thousands is read quickly.

    Args:
        scratch: where zips are unpacked, within the limits of `archives.unpack`; None to leave them packed.
        export: whether `folder` is a platform's export or contains just one; None if the instructor did not say.
        participants: names for the numbers in Moodle's export.
        at_student: called with each student before their hand-ins are read.

    Raises:
        ClassUnclearError: the only folder in it may be a class or a student, and `export` is None.
        OSError: the folder cannot be read, or zips cannot be unpacked.
        ArchiveError: the class's own zip is damaged or too large.
    """
    found = ClassFolder()
    called = folder
    left_out: list[tuple[str, str]] = []
    if scratch is not None and folder.is_file():
        target = scratch / "class" / folder.stem
        left_out = unpack(folder, target, OF_A_CLASS).left_out
        target.mkdir(parents=True, exist_ok=True)
        folder = class_in(target, archive=folder.stem, export=export)
        around = f"{folder.relative_to(target).as_posix()}/" if folder != target else ""
        left_out = [(name.removeprefix(around), why) for name, why in left_out]
    else:
        folder = class_in(folder, archive=None, export=export)
    folder = Path(os.path.realpath(folder))  # resolve `..` and links, which have no name of their own
    hand_ins, remarks = hand_ins_of(folder, left_out, participants)
    keys = frozenset(one.key for one in hand_ins if one.key)
    if 2 * len(keys) > len({one.path.name for one in hand_ins}):
        found.entries = keys
    found.remarks += [remark.replace(str(folder), str(called), 1) for remark in remarks]
    hand_ins, renamed = called_alike.told_apart(hand_ins)
    by_student: dict[str, list[HandIn]] = defaultdict(list)
    for hand_in in hand_ins:
        by_student[hand_in.student].append(hand_in)
    unpacker = Unpacker(scratch)
    for student in sorted(by_student):
        if at_student is not None:
            at_student(student)
        rows: list[Unrecognised] = []
        work = _work_of(student, by_student[student], unpacker, rows, found.earlier)
        if folder.name == NBGRADER:
            work = [replace(item, at=_nbgraders_time(item.file.parent)) for item in work]
        if not work and all(one.perhaps for one in by_student[student]):
            rows.clear()
        if not work and not rows:
            where = by_student[student][0].path.name
            found.remarks.append(f"{called / where}: nothing that can be graded, so no result")
        if len(rows) > MOST_ROWS:
            rows.sort(key=lambda row: row.file != REST and not lessons_named(stem_of(Path(row.file).name) or ""))
            rows[MOST_ROWS:] = [Unrecognised(student, REST, f"and {counted(len(rows) - MOST_ROWS, 'more file')}")]
        found.work += work
        found.not_recognised += rows
    if folder.name == NBGRADER and not any((folder.parent / name).is_file() for name in OF_A_COURSE):
        found.remarks += _untrusted_times_remark(called, sum(1 for item in found.work if item.at))
    _skip_duplicates(found, called, renamed)
    found.remarks += called_alike.remarks_on(called, renamed)
    _skip_template_files(found, called, {one.student: one.path for one in hand_ins if is_repository(one)})
    return found


def _skip_duplicates(found: ClassFolder, called: Path, renamed: dict[str, tuple[str, str]]) -> None:
    """Drop entries with the same work as an entry of a colliding name: a zip, say, beside the folder unpacked from it.

    Adds a remark with their names. Their rows that are not work move to the other student, without repetitions.
    """
    twice: list[str] = []
    work: dict[str, dict[str, Work]] = defaultdict(dict)
    for item in found.work:
        work[item.student][item.lesson] = item
    for name, (student, entry) in list(renamed.items()):
        pairs = [(item.file, work[student].get(lesson)) for lesson, item in work[name].items()]
        if pairs and all(other and _fingerprint(file) == _fingerprint(other.file) != "" for file, other in pairs):
            del renamed[name]
            twice.append(f"'{clean(entry, 80)}' ({clean(student)})")
            found.work = [item for item in found.work if item.student != name]
            listed = {row.file for row in found.not_recognised if row.student == student}
            found.not_recognised = [
                replace(row, student=student) if row.student == name else row
                for row in found.not_recognised
                if row.student != name or row.file not in listed
            ]
            found.earlier = [one for one in found.earlier if one.student != name]
    found.not_recognised.sort(key=lambda row: row.student)
    if twice:
        holding = counted(len(twice), "entry holds", "entries hold")
        found.remarks.append(f"{called}: {holding} the same work as another that is called alike: {some(twice)}")
    found.work = [
        replace(item, remark=f"'{clean(renamed[item.student][1], 80)}' is called like another's. {item.remark}".strip())
        if item.student in renamed
        else item
        for item in found.work
    ]


def _skip_template_files(found: ClassFolder, called: Path, repositories: dict[str, Path]) -> None:
    """Drop rows of files that most repositories share: they come from the assignment's template.

    Adds a remark per file. A student keeps the rows if the repository contains nothing else.
    """
    having: dict[str, list[Unrecognised]] = defaultdict(list)
    for row in found.not_recognised:
        if row.student in repositories and not row.is_work:
            having[row.file].append(row)
    of_template: dict[str, list[Unrecognised]] = {}
    for file, rows in having.items():
        texts = {student: _fingerprint(folder / file) for student, folder in repositories.items()}
        (text, number), *_ = Counter(texts.values()).most_common()
        if text and number > max(len(repositories) / 2, 1):
            of_template[file] = [row for row in rows if texts[row.student] == text]
    kept = Counter(row.student for rows in having.values() for row in rows)
    kept.subtract(row.student for rows in of_template.values() for row in rows)
    has_more = {item.student for item in found.work} | {student for student, number in kept.items() if number}
    passed_over: set[Unrecognised] = set()
    for file, rows in of_template.items():
        if gone := [row for row in rows if row.student in has_more]:
            passed_over.update(gone)
            found.remarks.append(
                f"{called}: {file} is the same in {counted(len(gone), 'repository', 'repositories')}; passed over"
            )
    found.not_recognised = [row for row in found.not_recognised if row not in passed_over]


def _untrusted_times_remark(called: Path, times: int) -> list[str]:
    """A remark that students may have written the times of hand-ins.

    Only `nbgrader submit` overwrites a student's own file (jupyter/nbgrader, exchange/default/submit.py); `zip_collect`
    (apps/zipcollectapp.py, `_transfer_files`) and unpacking a zip keep it.
    """
    if not times:
        return []
    return [
        f"{called}: when {counted(times, 'hand-in')} came is what the {TIMESTAMP} in them says. Nothing shows that "
        "nbgrader wrote it: a student may have; where lateness counts, give the times in rules.toml, under "
        "[[handed_in]]"
    ]


def _nbgraders_time(folder: Path) -> str:
    """The time in nbgrader's file, which a student may have written; empty if unreadable."""
    try:
        words = read_bytes(folder / TIMESTAMP, folder).decode("ascii").split()
        at = moment_of(" ".join(words[:2]))
        if at is None:
            return ""
        zone = UTC if words[2:] in ([], ["UTC"]) else ZoneInfo(words[2])
        return (at if at.tzinfo else at.replace(tzinfo=zone)).isoformat()
    except (SubmissionError, ValueError, KeyError, OSError):
        return ""


def _fingerprint(file: Path) -> str:
    """Hash of a file's content; empty if it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(file, file.parent)).hexdigest()
    except SubmissionError:
        return ""


def _work_of(
    student: str,
    hand_ins: list[HandIn],
    unpacker: Unpacker,
    rows: list[Unrecognised],
    earlier: list[EarlierFile],
) -> list[Work]:
    """A student's work, one file per lesson; appends ungraded files to `rows` and earlier attempts to `earlier`."""
    candidates: dict[str, list[Candidate]] = defaultdict(list)
    aside, reader = Aside(), Reader()
    for file in files_of(student, hand_ins, unpacker, rows, aside):
        found = "it lies in no student's folder" if student == UNKNOWN else recognised(file, reader)
        if isinstance(found, str):
            rows.append(Unrecognised(student, file.shown, found))
        else:
            candidates[found.lesson].append(found)
    work = []
    for lesson in sorted(candidates):
        choice = choose(candidates[lesson], reader)
        if choice is None:
            continue
        file = choice.best.file
        work.append(Work(sys.intern(lesson), student, file.path, choice.remark(), file.at, file.late))
        earlier += sorted(EarlierFile(student, lesson, one.shown, one.at) for one in choice.earlier)
        for other, why, lacks in choice.beside:
            if lacks not in UNTOUCHED:  # the result names the untouched ones; nobody has to act on them
                what = f"{file.shown} is graded as {lesson}, as {why}; remove one of the two"
                rows.append(Unrecognised(student, other.file.shown, what, is_work=lacks != OURS))
    rows += [
        Unrecognised(student, file.shown, "it is hidden; hand it in under a name without a dot")
        for file in work_among(aside.hidden)
        if not candidates.keys() & set(lessons_named(stem_of(file.name) or Path(file.name).stem))
    ]
    if not work:
        rows += [Unrecognised(student, file.shown, NO_LESSON) for file in aside.of_repository]
    if not work and not rows and (aside.clones or candidates):
        rows.append(Unrecognised(student, ".", "nothing in it but the course's own files: no exercise is worked on"))
    if not work and not rows:
        rows += [row for one in hand_ins if not is_repository(one) for row in nothing_of(student, one)]
    return work
