"""The arguments of `python -P -m autograder.authoring.…`: which lesson, and as with `backprop`, of which course."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from course.own import VARIABLE, CourseError, course_named, serve
from course.syllabus import Lesson, find_lesson
from course.trusted import found_above


class Arguments(argparse.ArgumentParser):
    """The arguments of one of these modules, `--course` among them."""

    def __init__(self, module: str, about: str | None) -> None:
        super().__init__(prog=f"python -P -m autograder.authoring.{module}", description=about)
        self.add_argument(
            "--course", metavar="DIR", help="a course of your own; else BACKPROP_COURSE, or that of this folder"
        )

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """What was typed, with the course served that it is about; ends the program where there is none such."""
        said = self.parse_intermixed_args(words)
        try:
            named = said.course or os.environ.get(VARIABLE)
            if named:
                serve(course_named(named))
            elif led := found_above(Path.cwd()):
                serve(led[1])
        except (CourseError, OSError) as error:
            self.error(str(error))
        return said

    def lesson(self, name: str) -> Lesson:
        """The lesson of that name; ends the program where there is none."""
        try:
            return find_lesson(name)
        except KeyError as error:
            self.error(error.args[0])
