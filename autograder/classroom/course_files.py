"""Recognises the course's own files among a student's: many students clone the course and work in the clone."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from autograder.places import OWN_LESSONS, ROOT, Places
from course.own import FILE, extends_ours

COURSE_FOLDERS = frozenset({"autograder", "benchmarks", "book", "course", "docs", "tests"})
"""Folders of a clone that students do not work in."""
COURSE_FILES = frozenset({"setup.py"})
SOLUTIONS = "solutions"
AUTHORED = re.compile(rb"^[ \t]*### BEGIN SOLUTION\b", re.MULTILINE)
"""Identifies older versions of a solution; notebooks have no such line."""


def is_clone(folder: Path) -> bool:
    """Whether a folder is a clone or download of the course."""
    ours = (folder / "course" / "syllabus.toml").is_file() and (folder / "autograder").is_dir()
    return ours or ((folder / FILE).is_file() and (folder / OWN_LESSONS).is_dir())


def is_ours(data: bytes) -> bool:
    """Whether a file is the course's, byte for byte except for line endings, which Git changes on Windows."""
    return _fingerprint(data) in _ours(Places()) or AUTHORED.search(data) is not None


def is_solution(sha256: str) -> bool:
    """Whether the hash is that of one of the course's solutions."""
    return sha256 in _solutions(Places())


def _with_base_course(places: Places) -> tuple[Places, ...]:
    return (places, Places(ROOT)) if places.is_own and extends_ours(places.root) else (places,)


@cache
def _ours(places: Places) -> frozenset[str]:
    notebooks = [file for course in _with_base_course(places) for file in course.notebooks.glob("*.ipynb")]
    notebooks += (ROOT / "autograder" / "sample_class").glob("*/*")
    return frozenset(_fingerprint(file.read_bytes()) for file in notebooks if file.is_file()) | _solutions(places)


@cache
def _solutions(places: Places) -> frozenset[str]:
    files = {file for course in _with_base_course(places) for file in course.solutions.glob("*.py")}
    return frozenset(_fingerprint(file.read_bytes()) for file in files)


def _fingerprint(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
