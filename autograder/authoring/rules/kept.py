"""What `make health` need not judge again: rules that found nothing in a lesson whose files have not changed since.

An entry has a hash of everything that decides what a rule finds: the rules and the grader, what they import of the
course, the lesson with its neighbours in other files, and the installed packages. Rules draw new salts and samples in
each run, so an entry counts for some days only. While a rule runs, the files that it opens are recorded: one that the
hash does not cover is a problem, because its changes would go unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

from autograder.authoring.rules.problem import Problem
from autograder.authoring.sample_class import SAMPLE_CLASS
from autograder.authoring.state import installed
from autograder.authoring.tree import Course
from autograder.judging.records.results import write_json
from autograder.judging.version import module_files, with_imports
from autograder.places import OWN_LESSONS, ROOT
from course.own import FILE

Rule = Callable[[Course], list[Problem]]

DAYS = 7
"""How long an entry counts. After that, the rules run again, with other salts."""
ABOVE = ("__main__.py", "commands", "page", "similarity")
"""Parts of the grader that no rule imports: import-linter's layers put them above or beside `authoring`."""
BESIDE = {"promises_in_step": ("SECURITY.md",)}
"""Files outside the course's folders that a rule reads, by the rule's name."""
SYLLABUSES = ("syllabus.toml", FILE)
"""Files of which the hash covers the lesson's own entry."""
PARTS = ("autograder", "course", "solutions", "exercises", "book", OWN_LESSONS, "SECURITY.md")
"""Parts of a course, or of this repository, that rules might read."""

DECIDES_NOTHING = (ROOT / "course" / "version.py", ROOT / "course" / "times.toml")
"""The number of a release, and the minutes of chapters, which only readers are told."""


def files_deciding(rule: Rule, course: Course) -> set[Path]:
    """The files that decide what a rule finds in the course's lessons, whose syllabus entries decide it as well."""
    found = set(_grader_files())
    found |= {course.root / name for name in BESIDE.get(rule.__name__, ())}
    if len(course.lessons) > 1:
        found |= set((course.root / SAMPLE_CLASS).rglob("*"))
    for slug, lesson in course.lessons.items():
        found |= {course.source(slug), course.notebook(slug), *course.folder(slug).rglob("*")}
        for environment in (lesson.environment, *lesson.environments):
            found |= {file for module in environment.modules for file in module_files(module)}
    return {file for file in with_imports(found) if file.suffix != ".pyc"}


@cache
def _grader_files() -> frozenset[Path]:
    """The grader without lessons, the course's data, and where the course is published, which messages link to."""
    grader = ROOT / "autograder"
    parts = [part for part in grader.iterdir() if part.name not in (*ABOVE, "lessons", "sample_class")]
    folders = [part for part in parts if part.is_dir()]
    found = {file for folder in (*folders, ROOT / "course" / "data") for file in folder.rglob("*")}
    return frozenset({*found, *parts, *(grader / "lessons").glob("*.*"), ROOT / "course" / "published.toml"})


def version_of(rule: Rule, course: Course) -> str:
    """A hash of everything that decides what a rule finds in these lessons, read from the disk now."""
    found = hashlib.sha256(f"{rule.__name__} {course.exercise} {sorted(course.lessons.items())!r}\n".encode())
    found.update(installed().encode())
    for file in sorted(files_deciding(rule, course)):
        found.update(f"\n{_named(file, course)} ".encode() + hashlib.sha256(content(file)).digest())
    return found.hexdigest()


def content(file: Path) -> bytes:
    return file.read_bytes()


def _named(file: Path, course: Course) -> str:
    return course.relative(file) if file.is_relative_to(course.root) or file.is_relative_to(ROOT) else file.name


class JudgedWell:
    """The rules that found nothing, by lesson, in a file of JSON."""

    def __init__(self, file: Path) -> None:
        """Read the file; a missing file, or one with other content, counts as empty."""
        self._file = file
        self._begun: dict[str, str] = {}
        self.skipped = 0
        """How many rules of lessons `has` was true of."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            content = {}
        self._entries: dict[str, Any] = content if isinstance(content, dict) else {}

    def has(self, rule: Rule, course: Course) -> bool:
        """Whether this rule found nothing in these lessons as they are now, at most `DAYS` ago."""
        name = _name(rule, course)
        self._begun[name] = version_of(rule, course)
        entry = self._entries.get(name)
        same = isinstance(entry, dict) and entry.get("version") == self._begun[name] and _is_recent(entry.get("on"))
        self.skipped += same
        return same

    @property
    def asked(self) -> int:
        """How many rules of lessons `has` was asked about."""
        return len(self._begun)

    def add(self, rule: Rule, course: Course) -> None:
        """Note that this rule found nothing, unless a file has changed since `has` was asked about it."""
        name = _name(rule, course)
        if version_of(rule, course) != self._begun.get(name):
            return
        self._entries[name] = {"version": self._begun[name], "on": _today().isoformat()}
        write_json(self._file, self._entries)


def _name(rule: Rule, course: Course) -> str:
    lessons = next(iter(course.lessons)) if len(course.lessons) == 1 else "all lessons"
    return f"{rule.__name__}: {lessons}{'/' if course.exercise else ''}{course.exercise}"


def _today() -> date:
    return datetime.now(UTC).date()


def _is_recent(on: object) -> bool:
    try:
        return timedelta(0) <= _today() - date.fromisoformat(str(on)) < timedelta(days=DAYS)
    except ValueError:
        return False


_opened: set[str] = set()


def watch_files() -> None:
    """Record, from now on, which files this process opens to read."""
    sys.addaudithook(_notice)


def _notice(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str) and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
        _opened.add(os.path.abspath(arguments[0]))


def watched(rule: Rule, course: Course) -> list[Problem]:
    """What a rule finds; if that is nothing, a problem for each file of ours that it read and no hash covers."""
    before = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    _opened.clear()
    problems = rule(course)
    if problems:
        return problems
    read = _ours(_opened, course) - files_deciding(rule, course)
    do = f"let `files_deciding` of {Path(__file__).relative_to(ROOT).as_posix()} include it"
    return [
        Problem(course.relative(file), f"{rule.__name__} reads it, and no hash covers it", do)
        for file in sorted(read)
        if str(file) not in before  # PyTorch reads the sources of all modules, also of those that the last rule left
    ]


def _ours(names: Iterable[str], course: Course) -> set[Path]:
    """The files of the course and of this repository among these that could decide something; sources for bytecode."""
    files = {Path(source_from_cache(name) if name.endswith(".pyc") else name) for name in names}
    deciding = [root / part for root in (course.root, ROOT) for part in PARTS]
    return {
        file
        for file in files
        if any(file.is_relative_to(part) for part in deciding)
        and file.name not in SYLLABUSES
        and file.name != "answers.book"  # is made of what the hash covers, and refused beside anything else
        and file not in DECIDES_NOTHING
        and file.is_file()
    }
