"""Entries of a class folder that are called alike: each is a student, so that none takes the place of another.

`ann` and ` ann`, `ann` and `ann.zip`, a name in two forms of Unicode: results have one name for them. Who hands in can
choose such a name, and which of two is the student's nobody can tell but the instructor. So the exact name keeps it,
then one that a platform made if most entries are such, a folder before a zip; the others have names that end in a hash.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.classroom.exports import HandIn
from autograder.classroom.student_names import NAME_BYTES, UNKNOWN, as_folder
from autograder.wording import clean, enumeration


def told_apart(hand_ins: list[HandIn]) -> tuple[list[HandIn], dict[str, tuple[str, str]]]:
    """The hand-ins with one student for each entry, where entries are called alike.

    Returns also what students are called who have another name than their entry gives them: by that, the student whose
    name it is, and their own entry.
    """
    entries: dict[str, dict[str, list[HandIn]]] = defaultdict(lambda: defaultdict(list))
    for hand_in in hand_ins:
        entries[hand_in.student][hand_in.of].append(hand_in)
    taken, renamed = set(entries), dict[str, tuple[str, str]]()
    named = {one.path.name: _is_platforms(one) for one in hand_ins}
    exported = sum(named.values()) * 2 > len(named)
    names: dict[tuple[str, str], str] = {}
    for student, by_entry in entries.items():
        if student == UNKNOWN:
            continue
        for of in sorted(by_entry, key=lambda of: (_rank(student, by_entry[of][0], exported), of))[1:]:
            entry = by_entry[of][0].path.name
            name = _another_name(student, of, taken)
            taken.add(name)
            names[student, of], renamed[name] = name, (student, entry)
    return [replace(one, student=names.get((one.student, one.of), one.student)) for one in hand_ins], renamed


def remarks_on(folder: Path, renamed: dict[str, tuple[str, str]]) -> list[str]:
    """A line for each name that several entries have."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name, (student, entry) in renamed.items():
        alike[student].append(f"'{clean(entry, 80)}' as {name}")
    return [
        f"{folder}: more than one entry is called {student}; graded beside it: {enumeration(others)}; if they are one "
        "student's, keep one of them"
        for student, others in alike.items()
    ]


def _rank(student: str, hand_in: HandIn, exported: bool) -> int:
    """Who keeps the name: whose entry has it exactly, then a platform's in an export, a folder before a zip.

    Anybody can call a folder as a platform would, so elsewhere that comes last but for what is empty.
    """
    entry = hand_in.path.name
    if not hand_in.name and _is_empty(hand_in.path):
        return 6
    if entry == student:
        return 0
    if _is_platforms(hand_in):
        return 1 if exported else 5
    if hand_in.name and entry.startswith(f"{student}."):
        return 2 if entry == f"{student}.zip" else 3
    return 4


def _is_platforms(hand_in: HandIn) -> bool:
    """Whether an entry is called as a platform calls it: GitHub Classroom puts the assignment before the name."""
    entry = hand_in.path.name
    return hand_in.of != entry or entry.endswith(f"-{hand_in.student}")


def _is_empty(folder: Path) -> bool:
    try:
        with os.scandir(folder) as found:
            return next(found, None) is None
    except OSError:
        return False


def _another_name(student: str, of: str, taken: Iterable[str]) -> str:
    """The student's name with a hash of the entry's, which nobody else has."""
    digest, name = of.encode("utf-8", "surrogateescape"), student
    kept = student.encode("utf-8", "surrogateescape")[: NAME_BYTES - 9].decode("utf-8", "ignore")
    while name in taken:
        digest = hashlib.sha256(digest).digest()
        name = as_folder(f"{kept}~{digest.hex()[:8]}")
    return name
