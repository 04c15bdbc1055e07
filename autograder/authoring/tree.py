"""Where the files of a course are, as a value, so that a rule can be pointed at any copy of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from course.syllabus import Lesson, read_syllabus

ROOT = Path(__file__).resolve().parents[2]


class AuthoringError(ValueError):
    """A lesson's source cannot become a notebook; the message names the file and the exercise."""


@dataclass(frozen=True)
class Course:
    """A course on disk: its folder and its lessons by slug, in order."""

    root: Path
    lessons: dict[str, Lesson]

    @classmethod
    def at(cls, root: Path = ROOT) -> Course:
        """The course in the folder `root`. Raises `SyllabusError` when its syllabus is wrong."""
        return cls(root, read_syllabus(root / "course" / "syllabus.toml"))

    def source(self, slug: str) -> Path:
        return self.root / "solutions" / f"{slug}.py"

    def notebook(self, slug: str) -> Path:
        return self.root / "exercises" / f"{slug}.ipynb"

    def checks(self, slug: str) -> Path:
        return self.root / "autograder" / "checks" / f"test_{slug}.py"

    def misconceptions(self, slug: str) -> Path:
        return self.root / "autograder" / "misconceptions" / f"{slug}.py"

    def scenarios(self, slug: str) -> Path:
        """Code that runs beside a submission; most lessons need none."""
        return self.root / "autograder" / "scenarios" / f"{slug}.py"

    def equivalents(self, slug: str) -> Path:
        """Changes of the source that no check can notice, each with its proof; most lessons have some."""
        return self.root / "autograder" / "equivalents" / f"{slug}.toml"

    def oracles(self, slug: str) -> Path:
        return self.root / "autograder" / "oracles" / f"test_{slug}.py"

    def chapter(self, slug: str) -> Path:
        return self.root / "book" / f"{slug}.md"

    def files(self, slug: str) -> tuple[Path, ...]:
        """The files that a lesson consists of, the generated notebook included."""
        paths = (self.source, self.notebook, self.checks, self.misconceptions, self.oracles, self.chapter)
        return tuple(path(slug) for path in paths)

    def relative(self, path: Path) -> str:
        """`path` as it is written in messages: from the course's folder, with slashes."""
        return path.relative_to(self.root).as_posix()
