"""The paths of a course's files; no other module spells them.

solutions/ch06_vjps.py              the reference, from which the notebook is built
exercises/ch06_vjps.ipynb           the notebook
book/ch06_vjps.md                   the chapter
autograder/lessons/ch06_vjps/       the lesson's part of the grader
    checks/relu_vjp.py              tests of a submission
    scenarios/                      code that runs in the submission's process; lessons of functions rarely need any
    mistakes/relu_vjp.py            wrong answers, with messages about them
    oracles/relu_vjp.py             tests of the reference against something independent
    equivalents.toml                mutations of the reference that no check can notice, each with a proof
    contract.toml                   the sentences of the contracts, and the checks that test them
    factors.toml                    the kinds of arguments that each exercise takes, and which no check has, and why
    covering.toml                   rows of such kinds, for the checks that draw them; `backprop build` writes it
    rejections.toml                 the checks that reject each wrong answer; `backprop build` writes it
    answers.book                    data that replaces the solutions in visible checks; `backprop release` writes it
autograder/lessons/                 beside the folders: files that several lessons' checks read

A course of your own has `backprop-course.toml` for a syllabus, and its lessons in `lessons/`. Its modules are imported
from there: `from lessons.ch01_power_iteration.checks.tolerances import CLOSE`.

In the four folders, an exercise's file has its name in lower case with `_` for dots: `tensor_backward.py` for
`Tensor.backward`. A long file is split into parts such as `tensor__shapes.py`. Code that several exercises share is in
modules with other names.
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
"""The folder of lessons in a course of your own, and the package that they are imported from."""


def served_root() -> Path:
    """The folder of the course that this process serves."""
    return own_course() or ROOT


@dataclass(frozen=True)
class Places:
    """The paths of the course in the folder `root`; by default, of the course that this process serves."""

    root: Path = field(default_factory=served_root)

    @property
    def is_own(self) -> bool:
        """Whether this is a course of your own, not this course or a copy of it.

        The grader's folder never is one, although it may have a file that leads to such a course, as in a release.
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
        """Whether this is a checkout, not an installed wheel, which has some of the folders packed inside."""
        return not self._packed_folder.is_dir()

    @property
    def _packed_folder(self) -> Path:
        return self.root / "autograder" / "packed"

    def _packed(self, name: str) -> Path:
        return (self.root if self.is_checkout else self._packed_folder) / name

    @property
    def chapters(self) -> Path:
        return self._packed("book")

    @property
    def pages(self) -> Path:
        """The folder of the built book."""
        return self.chapters / "_build" / "html"

    @property
    def lessons_folder(self) -> Path:
        if not self.is_own:
            return self.root / "autograder" / "lessons"
        _import_lessons_of_the_served_course()
        return self.root / OWN_LESSONS

    def of(self, slug: str) -> Places:
        """The paths of the course that has the lesson's files: these, or those of this course that they extend."""
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
        """The answer book: beside the checks or, for a lesson of an extended course, in the extending one."""
        extended = self.of(slug) is not self
        return self.root / "answers" / f"{slug}.book" if extended else self.folder(slug) / "answers.book"

    def part_of_answer_book(self, slug: str, exercise: str) -> Path:
        """The part of the answer book that a page fetches for one exercise."""
        return self.folder(slug) / "answers" / f"{exercise}.book"

    def contract(self, slug: str) -> Path:
        return self.folder(slug) / "contract.toml"

    def factors(self, slug: str) -> Path:
        return self.folder(slug) / "factors.toml"

    def covering(self, slug: str) -> Path:
        return self.folder(slug) / "covering.toml"

    def equivalents(self, slug: str) -> Path:
        return self.folder(slug) / "equivalents.toml"

    def relative(self, path: Path) -> str:
        """`path` for messages: relative to the course's folder, or else to this repository, with slashes."""
        return path.relative_to(self.root if path.is_relative_to(self.root) else ROOT).as_posix()


def file_of(folder: Path, exercise: str) -> Path:
    """The path of an exercise's file in one of the four folders of its lesson."""
    return folder / f"{exercise.replace('.', '_').lower()}.py"


def files_of(folder: Path, exercises: Iterable[str]) -> list[Path]:
    """The existing files of these exercises in one of the four folders, in order, each before its parts."""
    there = modules_in(folder)
    found = []
    for exercise in exercises:
        own = file_of(folder, exercise)
        found += [file for file in there if file == own or file.name.startswith(f"{own.stem}__")]
    return found


def modules_in(folder: Path) -> list[Path]:
    """The modules in one of the four folders, sorted by name: those of exercises, and shared ones."""
    return sorted(folder.glob("*.py"))


class _OwnLessons(MetaPathFinder):
    """Finds the package `lessons` in the folder of the served course, if that is a course of your own."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        own = own_course() if fullname == OWN_LESSONS else None
        if own is None:
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [str(own / OWN_LESSONS)]
        return spec


def _import_lessons_of_the_served_course() -> None:
    """Install the finder of `lessons`, and forget the modules of a course that this process served before."""
    if not any(isinstance(finder, _OwnLessons) for finder in sys.meta_path):
        sys.meta_path.append(_OwnLessons())
    own, imported = own_course(), sys.modules.get(OWN_LESSONS)
    path = list(getattr(imported, "__path__", []))  # a program may have a module of its own that is called `lessons`
    if own is not None and imported is not None and path != [str(own / OWN_LESSONS)]:
        for name in [name for name in sys.modules if name.partition(".")[0] == OWN_LESSONS]:
            del sys.modules[name]
