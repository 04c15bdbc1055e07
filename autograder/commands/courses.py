"""Which course a command is about: by `--course`, by `BACKPROP_COURSE` or by a file in a folder above; else this one.

A hand-in must have no say in it, so the file is looked for from where the command is typed and never from what it is
given, and a course that lies in a folder of hand-ins grades nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperOption

_led_by: list[Path] = []
"""The file above the working folder that said which course it is, where one did."""


class AboutACourse(TyperCommand):
    """A command with the option `--course`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(
            TyperOption(
                param_decls=["--course"],
                callback=_choose,
                expose_value=False,
                is_eager=True,  # what completes or reads other arguments knows it
                metavar="DIR",
                help="A course of your own (docs/own-course.md); else BACKPROP_COURSE, or the course of this folder.",
            )
        )


def _choose(context: Any, parameter: Any, named: str | None) -> None:
    from course.own import VARIABLE, CourseError, course_named, file_upwards, serve

    try:
        if not (named or os.environ.get(VARIABLE)):
            file = file_upwards(Path.cwd())
            if file is None:
                return
            _led_by[:] = [file]
            named = str(file)
        serve(course_named(named or os.environ[VARIABLE]))
    except (CourseError, OSError) as error:
        if not context.resilient_parsing:
            from autograder.commands.console import give_up

            give_up(str(error))


def refuse_a_course_within(hand_ins: Path) -> None:
    """End a command where the course lies in the folder of hand-ins that it is about, or a file in there named it."""
    from autograder.commands.console import give_up
    from course.own import own_course

    folder = Path(os.path.realpath(hand_ins))
    for place in (own_course(), *_led_by):
        if place is not None and Path(os.path.realpath(place)).is_relative_to(folder):
            give_up(
                f"{place} lies in {hand_ins}, where hand-ins are: none may say by which course it is graded; "
                "keep the course elsewhere, and name it with --course"
            )
