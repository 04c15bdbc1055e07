"""`backprop report`: shows or writes the results of a class."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.exits import ExitStatus
from autograder.commands.options import Rosters


def report(
    results: Annotated[Path, typer.Argument(help="The folder that 'backprop grade' wrote.")],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="One or more of terminal, json, html, csv, junit, gradescope, github, canvas, canvas-feedback, "
            "moodle, blackboard, brightspace, nbgrader; with commas between.",
        ),
    ] = "terminal",
    student: Annotated[str | None, typer.Option(help="Only this student, with the feedback in full.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where files go; RESULTS/__reports__ if left out.", show_default=False)
    ] = None,
    book_url: Annotated[
        str | None, typer.Option(help="Where the built book is, for links to its sections.", show_default=False)
    ] = None,
    hidden: Annotated[
        str,
        typer.Option(
            help="When students see checks on hidden inputs: hidden, after_due_date, after_published, visible. "
            "Gradescope knows these dates; a page shows them for visible alone."
        ),
    ] = "hidden",
    due: Annotated[
        str | None,
        typer.Option(
            help="The lessons that count for shares and totals, as ch06,ch07; if left out, those of the rules, or "
            "those for which anyone handed in work.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(help="The heading of the dashboard; the course's name if left out.", show_default=False),
    ] = None,
    roster: Rosters = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="Due dates, weights and penalties; RESULTS/rules.toml if left out and there.", show_default=False
        ),
    ] = None,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Without names, files' names, remarks and comments: to show to a class.")
    ] = False,
    gradebook: Annotated[
        str | None,
        typer.Option(help="For --format nbgrader: its course folder, or its database's address.", show_default=False),
    ] = None,
    overrides: Annotated[
        Path | None,
        typer.Option(
            help="Points that a teacher gave; RESULTS/overrides.toml if left out and there.", show_default=False
        ),
    ] = None,
) -> None:
    """Show the results of a class, or write them as pages, a gradebook or what other programs read."""
    from autograder.commands.console import console, echo, give_up, say
    from autograder.commands.grade_output import bring_up_to_date
    from autograder.commands.targets import lesson_called
    from autograder.gradebook.class_files import ClassFiles
    from autograder.gradebook.roster import RosterError
    from autograder.gradebook.table_file import TableError
    from autograder.reports.all_formats import make_all
    from autograder.reports.anonymous import NAMED
    from autograder.reports.class_results import REPORTS, ClassResults
    from autograder.reports.formats import MAKERS, VISIBILITIES, Order
    from autograder.wording import clean, enumeration
    from course.syllabus import course_title

    formats = list(dict.fromkeys(name.strip() for name in format_.split(",")))
    for name in formats:
        if name not in MAKERS:
            give_up(f"there is no format {name!r}; there are {enumeration(list(MAKERS))}")
    to_output = {"terminal"} if os.environ.get("GITHUB_STEP_SUMMARY") else {"terminal", "github"}
    beside = [name for name in formats if name in to_output]
    if "json" in formats and beside:
        give_up(f"json and {beside[0]} would go to standard output, one into the other; ask for them one by one")
    if hidden not in VISIBILITIES:
        give_up(f"there is no visibility {hidden!r}; there are {enumeration(VISIBILITIES)}")
    folder = out or results / REPORTS
    if _among_results(folder, results):
        give_up(f"{folder} lies among the results, where a report could be taken for one; name another folder")
    if book_url is not None and not _address(book_url):
        give_up(f"{book_url!r} is neither an address (https://...) nor a folder with the built book")
    lessons = tuple(lesson_called(name.strip()).slug for name in due.split(",")) if due is not None else ()
    if anonymous and (student is not None or set(formats) & set(NAMED)):
        give_up(f"--anonymous is for a class, and not for {enumeration(['--student', *NAMED])}")
    bring_up_to_date(results)
    try:
        kept = ClassFiles.at(results, roster or (), rules, overrides)
        classroom = ClassResults(
            results,
            only=student,
            due=lessons,
            people=kept.people,
            rules=kept.rules,
            overrides=kept.overrides,
            anonymous=anonymous,
        )
    except (RosterError, TableError) as error:
        give_up(str(error))
    heading = title or kept.rules.title or course_title()
    if "nbgrader" in formats and gradebook is None:
        give_up("--format nbgrader writes into a gradebook: say which with --gradebook, a course folder or an address")
    if classroom.course not in ("", course_title()):
        give_up(
            f"{results} has results of the course “{classroom.course}”, and this is “{course_title()}”: "
            "name that course's folder with --course"
        )
    order = Order(classroom, folder, console(), student, book_url, hidden, gradebook or "", heading)
    runs = make_all(formats, order)
    if runs is None:
        who = f" of {student}" if student is not None else ""
        problems = classroom.problems
        give_up(f"there are no results{who} in {results}" + (f" ({problems[0]})" if problems else ""))
    if any(isinstance(each.error, BrokenPipeError) for each in runs):  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    for line in (line for each in runs for line in each.lines):
        echo(clean(line, 1000), err=True)  # not standard output, which may be JSON
    for problem in classroom.problems:
        say(problem)
    failures = dict.fromkeys(each.problem() for each in runs if each.error is not None)
    for failure in filter(None, failures):
        say(failure)
    if failures:
        raise typer.Exit(ExitStatus.REFUSED if any(failures) else ExitStatus.FAILED)


def _among_results(folder: Path, results: Path) -> bool:
    """Whether files in `folder` could be mistaken for results; our own subfolder is allowed."""
    from autograder.reports.class_results import REPORTS

    inside, around = folder.resolve(), results.resolve()
    return inside.is_relative_to(around) and not inside.is_relative_to(around / REPORTS)


def _address(book_url: str) -> bool:
    """Whether pages may link there: a web address or a folder, never a script."""
    return book_url.startswith(("https://", "http://")) or Path(book_url).is_dir()
