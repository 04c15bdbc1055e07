"""`backprop release`: writes the course without its answers, to hand out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.build import EXTRAS
from autograder.commands.completion import lessons as lessons_begun
from autograder.commands.exits import ExitStatus


def release(
    out: Annotated[Path, typer.Argument(help="A new folder, or a zip: course.zip.")],
    lessons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LESSON]...", help="Those to hand out, as ch06; all if left out.", autocompletion=lessons_begun
        ),
    ] = None,
    book: Annotated[bool, typer.Option("--book", help="With the built pages of the book.")] = False,
    github: Annotated[
        bool, typer.Option("--github", help="As a repository for learners, with a workflow that checks each push.")
    ] = False,
    gradescope: Annotated[
        bool,
        typer.Option("--gradescope", help="As an autograder for Gradescope: a zip for teachers, with the solutions."),
    ] = False,
    salt: Annotated[
        str | None,
        typer.Option(
            envvar="BACKPROP_SALT", help="With --gradescope: the class's secret for hidden inputs.", show_default=False
        ),
    ] = None,
    hidden: Annotated[
        str, typer.Option(help="With --gradescope: when students see checks on hidden inputs, as for 'report'.")
    ] = "hidden",
) -> None:
    """Write the course as a class gets it: notebooks, chapters and checks that name mistakes, and no solution.

    Visible cases are judged by answer books, which hold what checks compare with. Writing them takes a minute or
    less a lesson, the first time.
    """
    from autograder.commands.targets import refuse_without_solutions

    refuse_without_solutions("release", "a checkout of the course")

    from autograder.commands.console import echo, give_up
    from autograder.places import ROOT, Places
    from course.own import own_course

    if own_course() and not Places(ROOT).is_checkout:
        give_up("release hands out the grader, too: install backprop from a checkout, as pip install -e does")
    if own_course() and book:
        give_up("--book is for backprop's own book; a release has the chapters of yours as Markdown")

    from autograder.authoring.github_release import release_repository
    from autograder.authoring.gradescope_release import release_gradescope
    from autograder.authoring.release import release as write_release
    from autograder.authoring.tree import AuthoringError, Course
    from autograder.commands.targets import lesson_called
    from autograder.isolation import PackageMissing
    from autograder.judging.records.errors import CheckError

    if (gradescope and github) or (book and (gradescope or github)):
        give_up("--book, --github and --gradescope are releases of three kinds: ask for one")
    if gradescope and not salt:
        give_up("--gradescope grades hidden cases: make the class a secret with 'backprop salt', and give it as --salt")
    slugs = list(dict.fromkeys(lesson_called(name).slug for name in lessons or []))
    try:
        course = Course.at()
        wanted = [slug for slug in course.lessons if slug in slugs]
        if gradescope:
            release_gradescope(course, out, wanted, salt=salt or "", hidden=hidden, say=echo, track=_with_a_bar)
        elif github:
            release_repository(course, out, wanted, say=echo, track=_with_a_bar)
        else:
            write_release(course, out, wanted, pages=book, say=echo, track=_with_a_bar)
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        give_up(f"release needs {missing.name}: pip install 'backprop-course[instructor,torch,dev]'")
    except OSError as error:
        give_up(f"{out} cannot be written ({error.strerror})")
    except (AuthoringError, CheckError, PackageMissing) as error:
        give_up(str(error), code=ExitStatus.FAILED)
    if gradescope:
        echo(f"{out}: written; it holds the solutions and the class's salt, and is for Gradescope alone")
        echo(f"Autograder points: {sum(course.lessons[slug].points for slug in wanted or course.lessons):g}")
        return
    echo(f"{out}: written, without solutions, hidden inputs and the sources of known mistakes")
    if github:
        echo(f"Next: cd {out} && git init -b main && git add -A && git commit -m Start, and push it as a template")
        return
    echo("Its README tells learners what to do. Hand-ins are graded here: backprop grade")


def _with_a_bar(done: Iterable[tuple[str, bytes]], many: int) -> Iterable[tuple[str, bytes]]:
    """Show on a terminal how many answer books are written."""
    from rich.progress import track

    from autograder.reports.screen import Screen

    screen = Screen(stderr=True)
    if not many or not screen.is_terminal:
        return done
    return track(done, "Answer books", total=many, console=screen)
