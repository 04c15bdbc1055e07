"""Gives entries of a class folder with colliding names (`ann`, ` ann`, `ann.zip`) separate results.

Names also collide if they differ only in their Unicode normal form. Students can choose such names, and only the
instructor can tell which entry is whose, so each entry counts as a student. One entry keeps the plain name: the one
with exactly that name, then one named by a platform if most entries are, then a folder before a zip. The others get
names that end in a hash.
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
    """Rename students whose names collide, so that every entry has its own student.

    Returns:
        The hand-ins, and for each new name the student whose name it collided with and the name of its entry.
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
    """A line for each name that several entries share."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name, (student, entry) in renamed.items():
        alike[student].append(f"'{clean(entry, 80)}' as {name}")
    return [
        f"{folder}: more than one entry is called {student}; graded beside it: {enumeration(others)}; if they are one "
        "student's, keep one of them"
        for student, others in alike.items()
    ]


def _rank(student: str, hand_in: HandIn, exported: bool) -> int:
    """Sort key, smallest first: which of several entries keeps the plain name.

    An exact match comes first; then a platform's entry, if most entries are (elsewhere it comes near the end, because
    anyone can imitate a platform's name); then a folder before a zip. An empty folder comes last.
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
    """Whether a platform named the entry: GitHub Classroom, for example, puts the assignment before the name."""
    entry = hand_in.path.name
    return hand_in.of != entry or entry.endswith(f"-{hand_in.student}")


def _is_empty(folder: Path) -> bool:
    try:
        with os.scandir(folder) as found:
            return next(found, None) is None
    except OSError:
        return False


def _another_name(student: str, of: str, taken: Iterable[str]) -> str:
    """The student's name with a hash of the entry's name, not yet in `taken`."""
    digest, name = of.encode("utf-8", "surrogateescape"), student
    kept = student.encode("utf-8", "surrogateescape")[: NAME_BYTES - 9].decode("utf-8", "ignore")
    while name in taken:
        digest = hashlib.sha256(digest).digest()
        name = as_folder(f"{kept}~{digest.hex()[:8]}")
    return name
