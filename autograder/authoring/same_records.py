"""`python -P -m autograder.authoring.same_records REV LESSON` compares misconceptions with those at a Git revision.

For use after rewriting a lesson's mistakes: each misconception at REV and its namesake in the working tree go through
all checks of their exercise with two salts, and what the checks saw is compared case by case, up to rounding.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograder.collection import with_judge
from autograder.diagnosis import Misconception, misconceptions_in
from autograder.judging.checking.one_text import one_text
from autograder.judging.checking.reference import load_module, misconceptions_of
from autograder.judging.checking.salt import PUBLIC_SALT
from autograder.judging.records.record import Record
from autograder.judging.session import Judge
from autograder.places import ROOT, Places, file_of, files_of
from course.syllabus import Lesson, find_lesson

SALTS = (PUBLIC_SALT, "another class")
ROUNDING = {"rtol": 1e-5, "atol": 1e-7}
"""Tolerances: some misconceptions compute in float64 what the reference computes in float32."""


def main(revision: str, name: str) -> int:
    lesson = find_lesson(name)
    before, after = _register_at(revision, lesson), misconceptions_of(lesson.slug)
    new = {known.name: known for known in after}
    differing: dict[str, str] = {}
    for salt in SALTS:

        def use(judge: Judge) -> None:
            for old in before:
                if old.name in new and old.name not in differing:
                    what = _difference(judge, old, new[old.name])
                    if what:
                        differing[old.name] = what

        with_judge(lesson, use, salt=salt)
    gone = [old.name for old in before if old.name not in new]
    edits = sum(bool(known.edits) for known in after)
    print(f"{lesson.slug}: {len(before)} before, {len(after)} after, of which {edits} are edits of the reference")
    print(f"  the same records: {len(before) - len(differing) - len(gone)}; others: {len(differing)}; gone: {gone}")
    for which, what in differing.items():
        print(f"  {which}: {what}")
    return int(bool(differing or gone))


def _register_at(revision: str, lesson: Lesson) -> list[Misconception]:
    folder = Places().mistakes(lesson.slug)
    command = ["git", "archive", revision, Places().relative(folder)]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    found: list[Misconception] = []
    with tempfile.TemporaryDirectory() as there, tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(there, filter="data")
        then = Places(Path(there)).mistakes(lesson.slug)
        for exercise in lesson.exercises:
            file = Path(there) / f"{file_of(folder, exercise.name).stem}_before.py"
            file.write_text(one_text(then, files_of(then, [exercise.name])), encoding="utf-8")
            found += misconceptions_in(load_module(file))
    return found


def _difference(judge: Judge, old: Misconception, new: Misconception) -> str:
    if (old.exercise, old.says) != (new.exercise, new.says):
        return "another exercise, or other words"
    items = judge.items_of(old.exercise)
    runs = [judge.observe(items, judge.reference.mistaken(known)) for known in (old, new)]
    for item, *records in zip(items, *runs, strict=True):
        what = _records_differ(*records)
        if what:
            return f"{item.name}: {what}"
    return ""


def _records_differ(one: Record, other: Record) -> str:
    if (one.passed, len(one.comparisons)) != (other.passed, len(other.comparisons)):
        return f"passed {one.passed}, {other.passed}; {len(one.comparisons)}, {len(other.comparisons)} comparisons"
    if (one.ended_by is None, type(one.ended_by)) != (other.ended_by is None, type(other.ended_by)):
        return f"ended by {one.ended_by!r}, {other.ended_by!r}"
    for a, b in zip(one.comparisons, other.comparisons, strict=True):
        if (a.names, a.case, bool(a.problems), a.cost) != (b.names, b.case, bool(b.problems), b.cost):
            return f"{a.case}: {a.problems} and {b.problems}"
        if not _alike(a.got, b.got):
            return f"{a.case}: {a.got!r} and {b.got!r}"[:400]
    return ""


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if (one.dtype, one.shape) != (other.dtype, other.shape) or one.dtype.kind not in "fc":
            return (one.dtype, one.shape) == (other.dtype, other.shape) and bool((one == other).all())
        loose = one.dtype.itemsize < 8
        return bool(np.allclose(one, other, equal_nan=True, **({"rtol": 1e-3, "atol": 1e-4} if loose else ROUNDING)))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, equal_nan=True, **ROUNDING))
    return type(one) is type(other) and (repr(one).split(" at 0x")[0] == repr(other).split(" at 0x")[0])


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (TypeError, KeyError) as error:
        sys.exit(f"usage: python -P -m autograder.authoring.same_records REV LESSON ({error})")
