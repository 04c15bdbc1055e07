"""The command line of `python -P -m autograder.authoring.…`: a lesson and, as for `backprop`, a course."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from course.own import VARIABLE, CourseError, course_named, serve
from course.syllabus import Lesson, find_lesson
from course.trusted import found_above


class Arguments(argparse.ArgumentParser):
    """The parser of one of these modules, with the option `--course`."""

    def __init__(self, module: str, about: str | None) -> None:
        super().__init__(prog=f"python -P -m autograder.authoring.{module}", description=about)
        self.add_argument(
            "--course", metavar="DIR", help="a course of your own; else BACKPROP_COURSE, or that of this folder"
        )

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments and serve the course that they name; exits if there is no such course."""
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
        """The lesson of that name; exits if there is none."""
        try:
            return find_lesson(name)
        except KeyError as error:
            self.error(error.args[0])
