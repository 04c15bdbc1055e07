"""A course on disk as a value, so that health rules can be run on any copy of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from autograder.places import ROOT, Places, file_of, modules_in, served_root
from course.syllabus import Lesson, read_syllabus


class AuthoringError(ValueError):
    """A lesson or a course cannot be built, created or released; the message says which file is wrong and why."""


@dataclass(frozen=True)
class Course(Places):
    """A course on disk: its folder and its lessons by slug, in order."""

    lessons: dict[str, Lesson] = field(default_factory=dict)
    exercise: str = ""
    """The one exercise that rules which run code look at; all if empty."""

    @classmethod
    def at(cls, root: Path | None = None) -> Course:
        """The course in `root`, or the one that this process serves. `SyllabusError` if its syllabus is wrong."""
        root = root or served_root()
        return cls(root, read_syllabus(Places(root).syllabus))

    def own_part(self) -> Course:
        """The course without the lessons of this repository that it uses unchanged: those are tested here."""
        ours = read_syllabus(Places(ROOT).syllabus)
        own = {slug: one for slug, one in self.lessons.items() if self.of(slug) is self or one != ours.get(slug)}
        return Course(self.root, own) if self.is_own else self

    def part(self, slug: str, exercise: str = "") -> Course:
        """The course reduced to one lesson, or to one exercise of it."""
        return Course(self.root, {slug: self.lessons[slug]}, exercise)

    def files(self, slug: str) -> tuple[Path, ...]:
        """The files that a lesson must have: source, notebook, checks, mistakes and oracles of each exercise, chapter.

        The chapter is left out if a course of your own has none.
        """
        exercises = [exercise.name for exercise in self.lessons[slug].exercises]
        folders = self.checks(slug), self.mistakes(slug), self.oracles(slug)
        own = [file_of(folder, name) for folder in folders for name in exercises]
        chapters = [] if self.is_own and not self.chapter(slug).is_file() else [self.chapter(slug)]
        return self.source(slug), self.notebook(slug), *own, *chapters

    def modules(self, slug: str) -> list[Path]:
        """The Python files of a lesson, except its source."""
        folders = self.checks(slug), self.mistakes(slug), self.oracles(slug), self.scenarios(slug)
        return [file for folder in folders for file in modules_in(folder)]
