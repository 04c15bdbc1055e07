"""Resolves a command's targets: a lesson, one of its exercises, or a file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.console import give_up
from autograder.learning.order import short_name
from autograder.places import Places
from course.syllabus import Environment, Exercise, Lesson, find_lesson, syllabus

if TYPE_CHECKING:
    from autograder.authoring.tree import Course

SUFFIXES = (".ipynb", ".py")
WORK = ("my-work", "backprop-work")
"""The folders that `make learn` and `backprop start` make."""


@dataclass(frozen=True)
class Target:
    """A file to grade as a lesson, and the requested exercises."""

    lesson: Lesson
    file: Path
    exercises: tuple[str, ...]

    @property
    def environments(self) -> Iterator[Environment]:
        """Environments of the requested exercises only."""
        return (self.lesson.exercise(name).environment for name in self.exercises)

    def notes(self) -> Iterator[str]:
        """Remarks on surprises, such as that another file is graded than the one being edited."""
        if is_handed_out(self.file.resolve().parent):
            yield f"{self.file} is the course's own copy: {_way_to_work(Path.cwd())}"
        slug, name = self.lesson.slug, self.file.name
        if self.file.stem != slug:
            yield f"{name} is graded as {slug}; hand it in as {slug}{self.file.suffix}"
            return
        for other in sorted(self.file.parent.glob(f"{slug}*")):
            if other.suffix in SUFFIXES and other.name != name:
                yield f"{other.name} lies beside {name} and is not graded; to grade it: backprop check {other}"


def is_handed_out(folder: Path) -> bool:
    """Whether a folder is the course's own folder of notebooks."""
    return folder == Places().notebooks


def find_targets(target: str | None, folder: Path) -> list[Target]:
    """The files that `target` means; without one, every lesson that has a file in `folder`.

    Ends the command with one line if there is nothing to grade.
    """
    if target is None:
        found = [
            Target(lesson, file, _all(lesson)) for lesson in syllabus().values() if (file := _file_of(lesson, folder))
        ]
        return found or give_up(f"there is no lesson in {folder}{_misnamed(folder)}: {_way_to_work(folder)}")
    if Path(target).suffix in SUFFIXES:
        return [_of_file(Path(target))]
    lesson, exercise = lesson_and_exercise(target)
    slug = lesson.slug
    file = _file_of(lesson, folder)
    if file is None:
        missing = f"there is no {slug}.ipynb or {slug}.py in {folder}{_misnamed(folder, slug)}"
        give_up(f"{missing}: {_way_to_work(folder, slug)}")
    return [Target(lesson, file, (exercise.name,) if exercise else _all(lesson))]


def find_exercise(target: str, folder: Path) -> tuple[Exercise, Path]:
    """The exercise that `target` means (`ch06/relu_vjp`), and the file in `folder` that contains it.

    Ends the command with one line if it means anything else, or there is no file.
    """
    lesson, exercise = lesson_and_exercise(target if Path(target).suffix not in SUFFIXES else Path(target).stem)
    if exercise is None:
        name = lesson.slug.partition("_")[0]
        give_up(f"{target} is a lesson: name one exercise of it, as {name}/{lesson.exercises[0].name}")
    (found,) = find_targets(target, folder)
    if is_handed_out(found.file.resolve().parent):
        give_up(next(found.notes()))
    return found.lesson.exercise(found.exercises[0]), found.file


def work_folder(folder: Path) -> Path:
    """The learner's folder: `folder` or `exercises` in it. Ends the command with one line if neither has lessons."""
    found = next((place for place in (folder, folder / "exercises") if lessons_in(place)), None)
    if found is None:
        give_up(f"there is no lesson in {folder}{_misnamed(folder)}: {_way_to_work(folder)}")
    if is_handed_out(found.resolve()):
        give_up(f"{found} is the course's own copy: {_way_to_work(folder)}")
    return found


def _way_to_work(folder: Path, slug: str = "") -> str:
    """What to type in `folder` to get to one's own notebooks, of the lesson `slug` if one is given."""
    made = next((name for name in WORK if (there := lessons_in(folder / name)) and (not slug or slug in there)), None)
    if made:
        return f"'cd {made}' takes you to yours"
    if slug and lessons_in(folder):
        return f"'backprop start . {slug.partition('_')[0]}' puts it here"
    return f"'backprop start {WORK[0]} && cd {WORK[0]}' makes a folder of yours"


def shortened(file: Path) -> Path:
    """A file's path from the working directory if it lies below it, else as it is."""
    try:
        return file.relative_to(Path.cwd())
    except ValueError:
        return file


def lessons_in(folder: Path) -> list[str]:
    """Slugs of the lessons that have a file in `folder`."""
    return [slug for slug in syllabus() if any((folder / f"{slug}{suffix}").is_file() for suffix in SUFFIXES)]


def hints_among(arguments: list[str], hint: int) -> tuple[int, list[str]]:
    """The number of hints, and the targets without the number that `--hint 2` leaves among them."""
    targets = list(arguments)
    numbers = [after for word, after in pairwise(sys.argv) if word == "--hint" and after.isdecimal()]
    for number in numbers:  # other numbers are lessons
        targets.remove(number)
    return max([hint, *map(int, numbers)]), targets


def _of_file(file: Path) -> Target:
    if not file.exists():
        give_up(f"there is no file {file}")
    from autograder.classroom.lesson_names import another_lesson, has_other_words, lessons_named, lessons_within
    from autograder.submission import SubmissionError, read_submission

    meant = lessons_named(file.stem)  # such as ch06_vjps-Copy1
    if has_other_words(file.stem):
        with suppress(SubmissionError):  # `check` reports unreadable files
            if problem := another_lesson(file.stem, read_submission(file).cells):
                give_up(f"{file}: {problem}; for another course: --course DIR")
    if len(meant) != 1:
        try:
            meant = lessons_within(read_submission(file).cells)
        except SubmissionError as error:
            give_up(f"{file}: {error}")
    if len(meant) != 1:
        give_up(f"neither the name of {file} nor the exercises in it say which lesson it is; call it ch06.ipynb, say")
    lesson = find_lesson(meant[0])
    return Target(lesson, file, _all(lesson))


def _misnamed(folder: Path, slug: str = "") -> str:
    """In parentheses: notebooks in `folder` that are not named like a lesson, since one may be what the user means."""
    others = sorted(file.name for file in folder.glob("*.ipynb") if file.stem not in syllabus())
    like = [name for name in others if slug and name.startswith(slug)] or others
    if not like:
        return ""
    new = f"{slug}.ipynb" if slug else "the lesson's name"
    return f" ({', '.join(like[:3])}: call it {new} if that is yours)"


def lesson_meant(slug: str) -> Lesson | None:
    """The only lesson whose slug begins with `slug`, written as `ch06`, `ch6`, `CH06` or `6`; else None."""
    begin = re.sub(r"^(?:ch)?0?(\d)(?!\d)", r"ch0\1", slug.lower())
    begin = re.sub(r"^(?=\d\d)", "ch", begin)
    begun = [lesson for lesson in syllabus().values() if lesson.slug.startswith(begin)]
    return begun[0] if slug and len(begun) == 1 else None


def lesson_called(slug: str) -> Lesson:
    """The lesson that `slug` means; ends the command with a line on existing names if there is none."""
    meant = lesson_meant(slug)
    if meant:
        return meant
    for lesson in syllabus().values():
        if slug in _all(lesson):
            give_up(f"{slug} is an exercise, not a lesson; its lesson is {lesson.slug}")
    try:
        return find_lesson(slug)
    except KeyError as error:
        give_up(error.args[0])


def lesson_and_exercise(target: str) -> tuple[Lesson, Exercise | None]:
    """The lesson, and the exercise if one is named, that `target` means.

    An exercise's name alone (`relu_vjp`) is enough if only one lesson has such an exercise. Ends the command with one
    line if `target` means nothing, or several exercises.
    """
    slug, slash, name = target.partition("/")
    if not slash and lesson_meant(slug) is None:
        named = [one for lesson in syllabus().values() for one in lesson.exercises if one.name == slug]
        if len(named) > 1:
            give_up(f"{slug} is an exercise of several lessons: say {' or '.join(map(short_name, named))}")
        if named:
            return find_lesson(named[0].lesson), named[0]
    lesson = lesson_called(slug)
    try:
        return lesson, lesson.exercise(name) if name else None
    except KeyError as error:
        give_up(error.args[0])


def lessons_meant(target: str | None) -> dict[str, Lesson]:
    """The lesson that `target` or its exercise is of, by slug; all lessons without a target."""
    if target is None:
        return dict(syllabus())
    lesson, _ = lesson_and_exercise(target)
    return {lesson.slug: lesson}


def _file_of(lesson: Lesson, folder: Path) -> Path | None:
    """The lesson's file in `folder` or its `exercises`, the most recently changed one."""
    places = (folder, folder / "exercises")
    files = [place / f"{lesson.slug}{suffix}" for place in places for suffix in SUFFIXES]
    here = [file for file in files if file.is_file()]
    return max(here, key=lambda file: file.stat().st_mtime) if here else None


def _all(lesson: Lesson) -> tuple[str, ...]:
    return tuple(exercise.name for exercise in lesson.exercises)


def refuse_without_solutions(command: str, what: str, *, installed: bool = False) -> None:
    """End a command that needs `what` if the course is here without its solutions, as learners get it.

    Args:
        installed: whether an installed wheel's solutions suffice.
    """
    from autograder.commands.console import give_up
    from autograder.places import Places

    places = Places()
    if not any(places.source(slug).is_file() for slug in syllabus()):
        give_up(f"{command} needs {what}; this copy of the course is one for learners and has none")
    if not (installed or places.is_checkout):
        give_up(f"{command} is for {what}; this one is installed")


def lesson_and_part(course: Course, name: str) -> tuple[Lesson, str]:
    """The lesson and part of a checkout that a name such as `ch06` or `ch06_vjps/relu_vjp` means."""
    slug, _, part = name.partition("/")
    begun = [lesson for lesson in course.lessons.values() if lesson.slug == slug or lesson.slug.startswith(f"{slug}_")]
    if len(begun) != 1:
        give_up(f"there is no lesson {slug!r}; there are {', '.join(course.lessons)}")
    return begun[0], part
