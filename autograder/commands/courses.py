"""Chooses the course of a command: `--course`, `BACKPROP_COURSE`, a course file in or above a folder, or else this one.

A hand-in must not choose its course. So a course file counts only if its course is trusted (`course.trusted`);
otherwise the command ends, because the default course would be the wrong one. Commands for a learner's own work search
from that work, since a work folder remembers its course; others search from the working folder. A course inside a
folder of hand-ins is refused even if trusted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperOption

FILES = {"check": "targets", "watch": "target"}
"""Commands for a learner's own work, with the argument that may name its files."""
FOLDERS = {"start": "folder", "nbgrader": "folder"}
"""Commands that write a folder and return to it, with the argument that names it."""
UNTRUSTED = "backprop.untrusted"
"""Key in a context's `meta` for an untrusted course, which disables completion."""

_led_by: list[Path] = []
"""The course file that was followed, if any."""


class AboutACourse(TyperCommand):
    """A command with the option `--course`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(
            TyperOption(
                param_decls=["--course"],
                callback=_choose,
                expose_value=False,
                is_eager=True,  # completion of other arguments depends on it
                metavar="DIR",
                help="A course of your own (docs/own-course.md); else BACKPROP_COURSE, or the trusted course of this "
                "folder.",
            )
        )

    def invoke(self, context: Any) -> Any:
        """Run the command with the course chosen by option, variable or file."""
        from autograder.commands.console import give_up
        from course.own import VARIABLE, CourseError

        try:
            if not os.environ.get(VARIABLE):
                _serve_course_of(_places(context))
        except (CourseError, OSError) as error:
            give_up(str(error))
        return super().invoke(context)


def _choose(context: Any, parameter: Any, named: str | None) -> None:
    """Serve the named course, or, during completion, that of the working folder."""
    from autograder.commands.console import give_up
    from course.own import VARIABLE, CourseError, course_named, serve

    try:
        if named or os.environ.get(VARIABLE):
            serve(course_named(named or os.environ[VARIABLE]))
        elif context.resilient_parsing:
            _serve_course_of([Path.cwd()])
    except (CourseError, OSError) as error:
        if not context.resilient_parsing:
            give_up(str(error))
        context.meta[UNTRUSTED] = True


def _places(context: Any) -> Iterator[Path]:
    """Folders in or above which to look for a course file: the work's, else the working folder."""
    from autograder.commands.targets import SUFFIXES

    command, said = context.info_name or "", context.params
    if command in FOLDERS:
        yield Path(os.path.abspath(said[FOLDERS[command]]))
        return
    targets = said.get(FILES.get(command, "")) or ()
    words = [targets] if isinstance(targets, str) else list(targets)
    files = [Path(word) for word in words if Path(word).suffix in SUFFIXES]
    for file in files:
        yield Path(os.path.abspath(file.parent))
    if len(files) < len(words) or not files:
        yield Path.cwd()


def _serve_course_of(places: Iterable[Path]) -> None:
    """Serve the course named by a file in or above these folders, or by one in or above the working folder.

    Raises `CourseError` if these files name several courses, or a course that is not trusted.
    """
    from course.own import CourseError, serve
    from course.trusted import found_above

    here = Path.cwd()
    found = {place: found_above(place) or found_above(here) for place in places}
    courses = {led[1] if led else None: place for place, led in found.items()}
    if len(courses) > 1:
        (one, place), (other, elsewhere), *_ = courses.items()
        raise CourseError(
            f"{place} is for {one or 'this project'} and {elsewhere} for {other or 'this project'}; take one course "
            "at a time"
        )
    for led in found.values():
        if led is not None:
            _led_by[:] = [led[0]]
            serve(led[1])


def refuse_a_course_within(hand_ins: Path) -> None:
    """End a command if its course, or the file that named it, is inside its folder of hand-ins."""
    from autograder.commands.console import give_up
    from course.own import own_course

    folder = Path(os.path.realpath(hand_ins))
    for place in (own_course(), *_led_by):
        if place is not None and Path(os.path.realpath(place)).is_relative_to(folder):
            give_up(
                f"{place} lies in {hand_ins}, where hand-ins are: none may say by which course it is graded; "
                "keep the course elsewhere, and name it with --course"
            )


def trust_what_was_made(folder: Path, course: Path | None) -> None:
    """Trust the course file that a command of ours has just written into a folder; if that fails, say so."""
    from autograder.commands.console import say
    from course.own import FILE, course_named
    from course.trusted import trust

    file = Path(os.path.abspath(folder)) / FILE
    if course is None or not file.is_file() or course_named(str(file)) != course:
        return
    try:
        trust(file)
    except OSError as error:
        say(
            f"{error.filename} cannot be written ({error.strerror}), so commands in {folder} need --course {course}: "
            "that it is trusted could not be noted"
        )
