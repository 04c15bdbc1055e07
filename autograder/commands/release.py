"""`backprop release`: the course without its answers, to hand out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.build import EXTRAS
from autograder.commands.completion import lessons as lessons_begun


def release(
    out: Annotated[Path, typer.Argument(help="A new folder, or a zip: course.zip.")],
    lessons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LESSON]...", help="Those to hand out, as ch06; all if left out.", autocompletion=lessons_begun
        ),
    ] = None,
    book: Annotated[bool, typer.Option("--book", help="With the built pages of the book.")] = False,
) -> None:
    """Write the course as a class gets it: notebooks, chapters and checks that name mistakes, and no solution.

    Visible cases are judged by answer books, which hold what checks compare with. Writing them takes a minute or two
    a lesson, the first time.
    """
    from autograder.commands.targets import refuse_without_solutions

    refuse_without_solutions("release", "a checkout of the course")

    from autograder.authoring.release import release as write_release
    from autograder.authoring.tree import AuthoringError, Course
    from autograder.commands.console import give_up
    from autograder.commands.targets import lesson_called
    from autograder.isolation import PackageMissing
    from autograder.judging.records.errors import CheckError

    slugs = list(dict.fromkeys(lesson_called(name).slug for name in lessons or []))
    try:
        course = Course.at()
        write_release(course, out, [slug for slug in course.lessons if slug in slugs], pages=book, say=typer.echo)
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        give_up(f"release needs {missing.name}: pip install 'backprop-course[instructor,torch,dev]'")
    except OSError as error:
        give_up(f"{out} cannot be written ({error.strerror})")
    except (AuthoringError, CheckError, PackageMissing) as error:
        give_up(str(error), code=1)
    typer.echo(f"{out}: written, without solutions, hidden inputs and the sources of known mistakes")
    typer.echo("Its README tells learners what to do. Hand-ins are graded here: backprop grade")
