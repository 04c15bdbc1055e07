"""The grader version that results record: the release, and a hash of everything that affects a lesson's points.

Each exercise has its own hash as well, so that a corrected check regrades only its own exercise.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from autograder.places import OWN_LESSONS, ROOT, Places, files_of, modules_in
from course.own import own_course
from course.syllabus import Exercise, Lesson, syllabus, whole_lessons
from course.version import RELEASE

SHARED = (
    *(f"autograder/{part}/**/*.*" for part in ("diagnosis", "judging", "isolation", "worker")),
    *("autograder/__init__.py", "autograder/[!_]*.py", "autograder/notebook/*.py", "autograder/lessons/*.npz"),
    *(f"autograder/learning/{name}.py" for name in ("__init__", "progress", "answers", "solutions")),  # for a notebook
    "autograder/answerbook/*.py",  # used where there are no solutions
    *("course/__init__.py", "course/own.py", "course/published.py", "course/syllabus.py", "course/data/*"),
)
"""Globs of the files that may affect every lesson's points. They import nothing else that affects points."""
_RELEASE = ROOT / "course" / "version.py"
_IMPORT = re.compile(r"^[ \t]*(?:from +(?P<of>[\w.]+) +)?import +(?P<names>\([^)]*\)|[^\n(]+)", re.MULTILINE)


def grader_version(slug: str) -> str:
    """The grader version of a lesson, for example `0.1.0+3f2a91c04b7e`; a corrected check changes it."""
    return _grader_version(slug, own_course())


@cache
def _grader_version(slug: str, own: Path | None) -> str:
    return f"{RELEASE}+{_digest(repr(syllabus().get(slug)), deciding_files(slug))}"  # this lesson's entry only


def exercise_version(slug: str, name: str) -> str:
    """Hash of everything that affects one exercise's points, except the results of the exercises that it calls."""
    return _exercise_version(slug, name, own_course())


@cache
def _exercise_version(slug: str, name: str, own: Path | None) -> str:
    exercise = syllabus()[slug].exercise(name)
    return _digest(repr(exercise), with_imports(_files_for(exercise), known=_shared_with_imports()))


def _digest(entry: str, files: set[Path]) -> str:
    digest = hashlib.sha256(entry.encode())
    own = own_course()
    for name, content in sorted(_hashed(file, own) for file in files):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:12]


@cache
def _hashed(file: Path, own: Path | None) -> tuple[str, bytes]:
    """A file's path in the course, and its content."""
    return Places().relative(file), file.read_bytes()


def deciding_files(slug: str) -> set[Path]:
    """The files that affect a lesson's points, besides its syllabus entry; in doubt, a file is included.

    They are the shared files, the lesson's folder and solution, everything that these import from `course` and
    `autograder`, and the solution and mistakes of each other lesson that they name, as calls to `misconceptions_of` do.
    """
    return with_imports([*Places().folder(slug).rglob("*"), *_answer_files(slug)], known=_shared_with_imports())


def _files_for(exercise: Exercise) -> Iterator[Path]:
    """The lesson's files, except those of other exercises and those that affect no points.

    All scenarios are included, because a worker gets a lesson's scenarios as one text.
    """
    lesson, places = syllabus()[exercise.lesson], Places()
    yield from places.folder(lesson.slug).glob("*.py")
    yield places.covering(lesson.slug)
    yield from _solution_files(lesson.slug)
    others = [other.name for other in lesson.whole.exercises if other.name != exercise.name]
    for folder in (places.checks(lesson.slug), places.mistakes(lesson.slug)):
        yield from set(modules_in(folder)) - set(files_of(folder, others))


def with_imports(files: Iterable[Path], known: Iterable[Path] = ()) -> set[Path]:
    """These files and all that they import from `course` and `autograder`, directly or not, and the `known` files.

    Args:
        known: files with everything that they import.
    """
    found = set(known)
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found and _affects_points(file):
            found.add(file)
            waiting += read_by(file) if file.suffix == ".py" else ()
    return found


@cache
def shared_files() -> frozenset[Path]:
    """The files of `SHARED`."""
    return frozenset(file for pattern in SHARED for file in ROOT.glob(pattern) if _affects_points(file))


def _shared_with_imports() -> frozenset[Path]:
    return _shared_and_imported(own_course())


@cache
def _shared_and_imported(own: Path | None) -> frozenset[Path]:
    """The shared files and what they import, found once for all lessons and exercises of a course."""
    return frozenset(with_imports(shared_files()))


@cache
def _affects_points(file: Path) -> bool:
    if file.suffix == ".book" or file == _RELEASE:  # a book contains its version; a release alone regrades nothing
        return False
    return file.is_file() and "__pycache__" not in file.parts


def _answer_files(slug: str) -> Iterator[Path]:
    """The files that define right and wrong answers to a lesson."""
    yield from _solution_files(slug)
    yield from modules_in(Places().mistakes(slug))


def _solution_files(slug: str) -> Iterator[Path]:
    """A lesson's solution, its scenarios, and the course modules that submissions may import."""
    yield Places().source(slug)
    yield from modules_in(Places().scenarios(slug))
    lesson = whole_lessons().get(slug)
    for module in _importable_by_submissions(lesson) if lesson else ():
        yield from module_files(module)


def _importable_by_submissions(lesson: Lesson) -> set[str]:
    """The modules of the course that submissions may import."""
    return {module for environment in (lesson.environment, *lesson.environments) for module in environment.modules}


def read_by(file: Path) -> tuple[Path, ...]:
    """The files of ours that a Python file imports, and the answers of the lessons that it names.

    The text is searched, not parsed: parsing would triple the wait for the version at a learner's first check.
    """
    return _read_by(file, own_course())


@cache
def _read_by(file: Path, own: Path | None) -> tuple[Path, ...]:
    text, places = file.read_text(encoding="utf-8"), Places()
    files = [path for name in _imported(text) for path in module_files(name)]
    if any(file.is_relative_to(one.lessons_folder) or file.parent == one.solutions for one in {places, Places(ROOT)}):
        files += [path for slug in whole_lessons() if f'"{slug}"' in text for path in _answer_files(slug)]
    return tuple(dict.fromkeys(files))


def _imported(text: str) -> set[str]:
    """The modules of ours that a text imports, and the names that it imports from them, which may be modules too."""
    found = set()
    for match in _IMPORT.finditer(text):
        names = re.findall(r"[\w.]+", re.sub(r"#.*|\bas +\w+", "", match["names"]))
        found |= {match["of"], *(f"{match['of']}.{name}" for name in names)} if match["of"] else set(names)
    return {name for name in found if name.startswith(("course", "autograder", f"{OWN_LESSONS}."))}


def module_files(name: str) -> tuple[Path, ...]:
    """The files that importing this module runs: its packages' and its own; empty unless it is ours."""
    return _module_files(name, own_course())


@cache
def _module_files(name: str, own: Path | None) -> tuple[Path, ...]:
    top = name.partition(".")[0]
    root = own if top == OWN_LESSONS else ROOT if top in ("course", "autograder") else None
    if root is None:
        return ()
    there = f"{root}/{name.replace('.', '/')}"
    return (*_inits(name.rpartition(".")[0], root), Path(f"{there}/__init__.py"), Path(f"{there}.py"))


@cache
def _inits(package: str, root: Path) -> tuple[Path, ...]:
    """The `__init__.py` of a package and of those around it."""
    parts = package.split(".") if package else []
    return tuple(root.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1))
