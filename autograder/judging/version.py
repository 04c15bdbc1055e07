"""Which grader gave a result: the version, and a hash of everything that decides the points of its lesson."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from course.syllabus import Lesson, syllabus

ROOT = Path(__file__).resolve().parents[2]
SHARED = (
    *(f"autograder/{part}/**/*.*" for part in ("diagnosis", "judging", "isolation", "worker")),
    *("autograder/__init__.py", "autograder/submission.py", "autograder/checks/*.npz"),
    *("course/__init__.py", "course/syllabus.py", "course/data/*"),
)
"""What decides in every lesson, beside what these files import."""
CHECKS = "autograder/checks/test_{}.py"
MATERIAL = ("solutions/{}.py", "autograder/scenarios/{}.py", "autograder/misconceptions/{}.py")
"""What another lesson may use of a lesson by its name."""
CONTENT = {Path(pattern).parent.name for pattern in (CHECKS, *MATERIAL)}
"""The folders whose files may name another lesson because they read it."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+((?:course|autograder)[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.+)|import[ \t]+(.+))", re.MULTILINE
)


@cache
def grader_version(slug: str) -> str:
    """For example `0.1.0+3f2a91c04b7e`: a corrected check is another version for its lesson, which is graded again."""
    digest = hashlib.sha256(repr(syllabus().get(slug)).encode())  # the lesson's entry, not the others'
    for file in sorted(deciding_files(slug)):
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{version('backprop-course')}+{digest.hexdigest()[:12]}"


def deciding_files(slug: str) -> set[Path]:
    """The files that decide the points of a lesson, beside its entry in the syllabus: rather one too many.

    They are the grader's own, the lesson's, all that these import of the course and of the grader, and all but the
    checks of another lesson that a lesson's file names in quotes, as `misconceptions_of` wants it.
    """
    waiting = [file for pattern in SHARED for file in ROOT.glob(pattern) if "__pycache__" not in file.parts]
    waiting += [ROOT / CHECKS.format(slug), *_material(slug)]
    found: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in found and file.is_file():
            found.add(file)
            waiting += _read_by(file) if file.suffix == ".py" else ()
    return found


def _material(slug: str) -> Iterator[Path]:
    yield from (ROOT / pattern.format(slug) for pattern in MATERIAL)
    lesson = syllabus().get(slug)
    for module in _open_to_submissions(lesson) if lesson else ():
        yield from _module(module)


def _open_to_submissions(lesson: Lesson) -> set[str]:
    """The modules of the course that submissions may import."""
    return {module for kit in (lesson.kit, *lesson.kits) for module in kit.modules}


@cache
def _read_by(file: Path) -> tuple[Path, ...]:
    """What a Python file of ours imports, and the lessons that it names."""
    text = file.read_text(encoding="utf-8")
    files: list[Path] = []
    for source, names, modules in _IMPORT.findall(text):
        for name in re.findall(r"[\w.]+", modules):
            files += _module(name)
        for name in re.findall(r"\w+", names) if source else ():
            files += [*_module(source), *_module(f"{source}.{name}")]
    for slug in syllabus() if file.parent.name in CONTENT else ():
        if f'"{slug}"' in text or f"'{slug}'" in text:
            files += _material(slug)
    return tuple(files)


def _module(name: str) -> list[Path]:
    """The files that importing a module runs, if it is one of ours: its packages' and its own."""
    parts = name.split(".")
    if parts[0] not in ("course", "autograder"):
        return []
    packages = [ROOT.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)]
    return [*packages, ROOT.joinpath(*parts).with_suffix(".py")]
