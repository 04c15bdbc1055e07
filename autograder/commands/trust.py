"""`backprop trust`: trusts a course file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.exits import ExitStatus

LONGEST = 5000
"""Longest line in characters; it contains two paths."""


def trust(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The folder of the course, of notebooks for it, or one in there.")
    ] = Path(),
    list_: Annotated[bool, typer.Option("--list", help="Show what is trusted, and change nothing.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="No longer trust it.")] = False,
) -> None:
    """Follow a course that a folder names: its checks run as you.

    A folder's backprop-course.toml says which course commands below it are about. It is followed once you have said
    here that you trust it, because it may have come with a hand-in. Courses that you begin with 'backprop new course'
    and folders that you make with 'backprop start' are trusted; --course needs no trust.
    """
    from autograder.commands.console import echo, give_up
    from autograder.wording import clean
    from course import trusted
    from course.own import FILE, CourseError, file_upwards

    if list_:
        for known, of in trusted.trusted():
            elsewhere = "" if of == known.parent else f", for the course in {of}"
            echo(clean(f"{known.parent}{elsewhere}", LONGEST))
        return
    try:
        file = file_upwards(folder.absolute())
        if file is None:
            give_up(f"there is no {FILE} in {folder.absolute()} or above it", code=ExitStatus.FAILED)
        place = clean(str(file.parent), LONGEST)
        if remove:
            echo(f"{place} {'is trusted no more' if trusted.distrust(file) else 'was not trusted'}.")
            return
        course = clean(str(trusted.trust(file)), LONGEST)
    except CourseError as error:
        give_up(str(error), code=ExitStatus.FAILED)
    except OSError as error:
        give_up(f"{error.filename}: {error.strerror}", code=ExitStatus.FAILED)
    echo(f"Commands in {place} are about the course in {course} from now on; its checks run as you.")
    echo("To take that back, add --remove.")
