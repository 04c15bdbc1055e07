"""Which grader gave a result: the version, and a hash of everything that decides the points of its lesson.

Each exercise has a hash of its own beside that, so that a corrected check grades its exercise again, and no other.
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
    "autograder/answerbook/*.py",  # where the solutions are not
    *("course/__init__.py", "course/own.py", "course/published.py", "course/syllabus.py", "course/data/*"),
)
"""What decides in every lesson, or may. It imports nothing else of ours, so that no start has to look what it does."""
_RELEASE = ROOT / "course" / "version.py"
_IMPORT = re.compile(r"^[ \t]*(?:from +(?P<of>[\w.]+) +)?import +(?P<names>\([^)]*\)|[^\n(]+)", re.MULTILINE)


def grader_version(slug: str) -> str:
    """For example `0.1.0+3f2a91c04b7e`: a corrected check is another version for its lesson, which is graded again."""
    return _grader_version(slug, own_course())


@cache
def _grader_version(slug: str, own: Path | None) -> str:
    return f"{RELEASE}+{_digest(repr(syllabus().get(slug)), deciding_files(slug))}"  # its entry, not the others'


def exercise_version(slug: str, name: str) -> str:
    """A hash of everything that decides the points of one exercise, where what it calls has the same result."""
    return _exercise_version(slug, name, own_course())


@cache
def _exercise_version(slug: str, name: str, own: Path | None) -> str:
    exercise = syllabus()[slug].exercise(name)
    return _digest(repr(exercise), _reached([*shared_files(), *_files_for(exercise)]))


def _digest(entry: str, files: set[Path]) -> str:
    digest = hashlib.sha256(entry.encode())
    places = Places()
    for name, file in sorted((places.relative(file), file) for file in files):
        digest.update(name.encode() + b"\0" + _content(file) + b"\0")
    return digest.hexdigest()[:12]


@cache
def _content(file: Path) -> bytes:
    return file.read_bytes()


def deciding_files(slug: str) -> set[Path]:
    """The files that decide the points of a lesson, beside its entry in the syllabus: rather one too many.

    They are the grader's own, the lesson's folder and its solution, all that these import of the course and of the
    grader, and what another lesson's answers are made of where a file of this one names it, as `misconceptions_of`
    wants it.
    """
    return _reached([*shared_files(), *Places().folder(slug).rglob("*"), *_answers(slug)])


def _files_for(exercise: Exercise) -> Iterator[Path]:
    """The lesson's files but for those that are another exercise's own, and those that decide no points.

    Scenarios all count: a worker gets those of a lesson as one text.
    """
    lesson, places = syllabus()[exercise.lesson], Places()
    yield from places.folder(lesson.slug).glob("*.py")
    yield from _solved_with(lesson.slug)
    others = [other.name for other in lesson.whole.exercises if other.name != exercise.name]
    for folder in (places.checks(lesson.slug), places.mistakes(lesson.slug)):
        yield from set(modules_in(folder)) - set(files_of(folder, others))


def _reached(files: Iterable[Path]) -> set[Path]:
    """These files, and all that they import of the course and of the grader."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found and _counts(file):
            found.add(file)
            waiting += read_by(file) if file.suffix == ".py" else ()
    return found


@cache
def shared_files() -> frozenset[Path]:
    """The files of `SHARED`."""
    return frozenset(file for pattern in SHARED for file in ROOT.glob(pattern) if _counts(file))


@cache
def _counts(file: Path) -> bool:
    if file.suffix == ".book" or file == _RELEASE:  # a book names its version; a release regrades no exercise
        return False
    return file.is_file() and "__pycache__" not in file.parts


def _answers(slug: str) -> Iterator[Path]:
    """What right and wrong answers to a lesson are made of."""
    yield from _solved_with(slug)
    yield from modules_in(Places().mistakes(slug))


def _solved_with(slug: str) -> Iterator[Path]:
    """A lesson's solution, what runs beside an answer, and what answers may import."""
    yield Places().source(slug)
    yield from modules_in(Places().scenarios(slug))
    lesson = whole_lessons().get(slug)
    for module in _open_to_submissions(lesson) if lesson else ():
        yield from module_files(module)


def _open_to_submissions(lesson: Lesson) -> set[str]:
    """The modules of the course that submissions may import."""
    return {module for environment in (lesson.environment, *lesson.environments) for module in environment.modules}


def read_by(file: Path) -> tuple[Path, ...]:
    """What a Python file of ours imports, and what it reads of the lessons that it names.

    Its text is searched, and not parsed: a learner's first check would wait three times as long for the version.
    """
    return _read_by(file, own_course())


@cache
def _read_by(file: Path, own: Path | None) -> tuple[Path, ...]:
    text, places = file.read_text(encoding="utf-8"), Places()
    files = [path for name in _imported(text) for path in module_files(name)]
    if any(file.is_relative_to(one.lessons_folder) or file.parent == one.solutions for one in {places, Places(ROOT)}):
        files += [path for slug in whole_lessons() if f'"{slug}"' in text for path in _answers(slug)]
    return tuple(files)


def _imported(text: str) -> set[str]:
    """The modules of ours that a text imports, and what it imports from them: that may be a module, too."""
    found = set()
    for match in _IMPORT.finditer(text):
        names = re.findall(r"[\w.]+", re.sub(r"#.*|\bas +\w+", "", match["names"]))
        found |= {match["of"], *(f"{match['of']}.{name}" for name in names)} if match["of"] else set(names)
    return {name for name in found if name.startswith(("course", "autograder", f"{OWN_LESSONS}."))}


def module_files(name: str) -> tuple[Path, ...]:
    """The files that importing a module runs, if it is one of ours or of the course: its packages' and its own."""
    return _module_files(name, own_course())


@cache
def _module_files(name: str, own: Path | None) -> tuple[Path, ...]:
    parts = name.split(".")
    root = own if parts[0] == OWN_LESSONS else ROOT if parts[0] in ("course", "autograder") else None
    if root is None:
        return ()
    packages = [root.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)]
    return (*packages, root.joinpath(*parts).with_suffix(".py"))
