"""Where the files of a course lie: nothing else spells their paths.

solutions/ch06_vjps.py              the reference, which the notebook is made of
exercises/ch06_vjps.ipynb           the notebook
book/ch06_vjps.md                   the chapter
autograder/lessons/ch06_vjps/       what the grader knows of the lesson
    checks/relu_vjp.py              what is asked of a submission
    scenarios/                      code that runs beside one; most lessons of functions need none
    mistakes/relu_vjp.py            wrong answers, with what is said of them
    oracles/relu_vjp.py             the reference against something independent
    equivalents.toml                changes of the reference that no check can notice, each with its proof
    contract.toml                   which checks ask the sentences of its contracts
    rejections.toml                 which checks reject which wrong answer; `backprop build` writes it
    answers.book                    what visible checks compare with, for copies without solutions; `backprop release`
                                    writes it
autograder/lessons/                 beside the folders: what several lessons' checks read

A course of one's own has `backprop-course.toml` for a syllabus, and its lessons in `lessons/`. Its modules are imported
from there: `from lessons.ch01_power_iteration.checks.tolerances import CLOSE`.

In the four folders a file is an exercise's: `Tensor.backward` has `tensor_backward.py`, its name in lower case with `_`
for dots. One that would be too long goes on in parts, `tensor__shapes.py`. What several exercises share stands beside
them, in a module that is named for what it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from course.own import FILE, extends_ours, own_course

ROOT = Path(__file__).resolve().parents[1]
OWN_LESSONS = "lessons"
"""The folder of a course of one's own that holds its lessons, and the package that they are imported from."""


def served_root() -> Path:
    """The folder of the course that this process serves."""
    return own_course() or ROOT


@dataclass(frozen=True)
class Places:
    """The places of a course in the folder `root`: the one that this process serves unless another is given."""

    root: Path = field(default_factory=served_root)

    @property
    def is_own(self) -> bool:
        """Whether this is a course of somebody's own, and not this one or a copy of it.

        The grader's own folder is none: a file in it may lead to such a course, as in a release.
        """
        return self.root != ROOT and (self.root / FILE).is_file()

    @property
    def syllabus(self) -> Path:
        return self.root / FILE if self.is_own else self.root / "course" / "syllabus.toml"

    @property
    def solutions(self) -> Path:
        return self._packed("solutions")

    @property
    def notebooks(self) -> Path:
        return self._packed("exercises")

    @property
    def is_checkout(self) -> bool:
        """Whether this is the course as authors have it, not a wheel that took some of it along."""
        return not self._taken_along.is_dir()

    @property
    def _taken_along(self) -> Path:
        return self.root / "autograder" / "packed"

    def _packed(self, name: str) -> Path:
        return (self.root if self.is_checkout else self._taken_along) / name

    @property
    def chapters(self) -> Path:
        return self._packed("book")

    @property
    def pages(self) -> Path:
        """The built book."""
        return self.chapters / "_build" / "html"

    @property
    def lessons_folder(self) -> Path:
        if not self.is_own:
            return self.root / "autograder" / "lessons"
        _find_own_lessons()
        return self.root / OWN_LESSONS

    def of(self, slug: str) -> Places:
        """The places of the course that a lesson is of: these, or those of this course where they extend it."""
        if not (self.is_own and extends_ours(self.root)) or (self.lessons_folder / slug).is_dir():
            return self
        ours = Places(ROOT)
        return ours if (ours.lessons_folder / slug).is_dir() else self

    def source(self, slug: str) -> Path:
        return self.of(slug).solutions / f"{slug}.py"

    def notebook(self, slug: str) -> Path:
        return self.notebooks / f"{slug}.ipynb"

    def chapter(self, slug: str) -> Path:
        return self.of(slug).chapters / f"{slug}.md"

    def page(self, slug: str) -> Path:
        """The page of a chapter in the built book."""
        return self.of(slug).pages / f"{slug}.html"

    def folder(self, slug: str) -> Path:
        return self.of(slug).lessons_folder / slug

    def checks(self, slug: str) -> Path:
        return self.folder(slug) / "checks"

    def scenarios(self, slug: str) -> Path:
        return self.folder(slug) / "scenarios"

    def mistakes(self, slug: str) -> Path:
        return self.folder(slug) / "mistakes"

    def oracles(self, slug: str) -> Path:
        return self.folder(slug) / "oracles"

    def rejections(self, slug: str) -> Path:
        return self.folder(slug) / "rejections.toml"

    def answer_book(self, slug: str) -> Path:
        """Beside the checks; of a lesson that a course changes, in that course."""
        extended = self.of(slug) is not self
        return self.root / "answers" / f"{slug}.book" if extended else self.folder(slug) / "answers.book"

    def part_of_answer_book(self, slug: str, exercise: str) -> Path:
        """What a page has of the book beside what all exercises need."""
        return self.folder(slug) / "answers" / f"{exercise}.book"

    def contract(self, slug: str) -> Path:
        return self.folder(slug) / "contract.toml"

    def equivalents(self, slug: str) -> Path:
        return self.folder(slug) / "equivalents.toml"

    def relative(self, path: Path) -> str:
        """`path` as it is written in messages: from the course's folder, or this one's, with slashes."""
        return path.relative_to(self.root if path.is_relative_to(self.root) else ROOT).as_posix()


def file_of(folder: Path, exercise: str) -> Path:
    """Where an exercise's file lies in one of the four folders of its lesson."""
    return folder / f"{exercise.replace('.', '_').lower()}.py"


def files_of(folder: Path, exercises: Iterable[str]) -> list[Path]:
    """The files that there are of these exercises in one of the four folders, in their order, each before its parts."""
    there = modules_in(folder)
    found = []
    for exercise in exercises:
        own = file_of(folder, exercise)
        found += [file for file in there if file == own or file.name.startswith(f"{own.stem}__")]
    return found


def modules_in(folder: Path) -> list[Path]:
    """The modules in one of the four folders, by name: those of exercises, and what they share."""
    return sorted(folder.glob("*.py"))


class _OwnLessons(MetaPathFinder):
    """Finds the package `lessons`, whose modules are those of a course of one's own, where such a one is served."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        own = own_course() if fullname == OWN_LESSONS else None
        if own is None:
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [str(own / OWN_LESSONS)]
        return spec


def _find_own_lessons() -> None:
    """Let `lessons` be found from now on: in a process that serves such a course, and in no other."""
    if not any(isinstance(finder, _OwnLessons) for finder in sys.meta_path):
        sys.meta_path.append(_OwnLessons())
