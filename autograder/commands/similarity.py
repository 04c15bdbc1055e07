"""`backprop similarity`: compares the answers of a class."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.options import Rosters

if TYPE_CHECKING:
    from autograder.gradebook.roster import Person
    from autograder.similarity.class_answers import ClassAnswers

FORMATS = ("terminal", "html", "json", "dolos", "jplag")


def similarity(
    folders: Annotated[
        list[Path], typer.Argument(metavar="CLASS...", help="Class folders or exports, as 'grade' takes them.")
    ],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="One or more of terminal, html (answers side by side), json, and dolos or jplag (files for these "
            "programs); with commas between.",
        ),
    ] = "terminal",
    results: Annotated[
        Path, typer.Option(help="The folder that 'backprop grade' wrote: its rosters say who is a team.")
    ] = Path("results"),
    out: Annotated[
        Path | None,
        typer.Option(help="Where files go; RESULTS/__reports__/similarity if left out.", show_default=False),
    ] = None,
    export: Annotated[
        bool | None, typer.Option("--export/--no-export", help="As 'grade' has it.", show_default=False)
    ] = None,
    roster: Rosters = None,
) -> None:
    """Show which answers are equal or nearly so, the most unusual first. Similarity proves nothing by itself.

    Answers are parsed and never run. The comparison ignores names, comments and order; code that most of a class share
    counts for nothing, and a team's hand-in counts as one.
    """
    from autograder.commands.console import console, echo, give_up, say
    from autograder.commands.courses import refuse_a_course_within
    from autograder.commands.grade_output import LINES, bring_up_to_date
    from autograder.reports.class_results import REPORTS
    from autograder.similarity.exports import write_dolos, write_jplag
    from autograder.similarity.report import as_json, show, similarity_of, write_page
    from autograder.wording import enumeration
    from course.syllabus import course_title

    formats = list(dict.fromkeys(name.strip() for name in format_.split(",")))
    for name in formats:
        if name not in FORMATS:
            give_up(f"there is no format {name!r}; there are {enumeration(FORMATS)}")
    for folder in folders:
        refuse_a_course_within(folder)
    bring_up_to_date(results)
    people, title = _class_roster(results, roster or [])
    found = _read(folders, export, people)
    if not found.hand_ins:
        give_up(f"there are no answers in {enumeration(folders)}" + (f" ({found.remarks[0]})" if found.remarks else ""))
    if not found.has_reference:
        say("this copy of the course has no solutions: nothing is compared with them")
    target = out or results / REPORTS / "similarity"
    alike = similarity_of(found)
    try:
        for name in formats:
            if name == "html":
                echo(f"html: {write_page(alike, target, title or course_title())}", err=True)
            elif name == "json":
                target.mkdir(parents=True, exist_ok=True)
                (target / "similarity.json").write_text(as_json(alike) + "\n", encoding="utf-8")
                echo(f"json: {target / 'similarity.json'}", err=True)
            elif name in ("dolos", "jplag"):
                for line in (write_dolos if name == "dolos" else write_jplag)(found.hand_ins, target):
                    echo(line, err=True)
            else:
                show(console(), alike)
    except OSError as error:
        give_up(f"{error.filename or target} cannot be written ({error.strerror})")
    for line in alike.remarks[:LINES]:
        say(line)
    if len(alike.remarks) > LINES:
        say(f"and {len(alike.remarks) - LINES:,} more such lines")


def _class_roster(results: Path, rosters: list[Path]) -> tuple[list[Person], str]:
    """The class's roster and title."""
    from autograder.commands.console import give_up
    from autograder.gradebook.class_files import ClassFiles
    from autograder.gradebook.roster import RosterError
    from autograder.gradebook.table_file import TableError

    try:
        kept = ClassFiles.at(results, rosters)
    except (RosterError, TableError) as error:
        give_up(str(error))
    return kept.people, kept.rules.title


def _read(folders: list[Path], export: bool | None, people: list[Person]) -> ClassAnswers:
    """Read the answers of a class, with progress on a terminal."""
    from autograder.classroom.archives import ArchiveError
    from autograder.classroom.class_level import ClassUnclearError
    from autograder.commands.console import give_up, said_on_a_terminal
    from autograder.similarity.class_answers import Source, read_class
    from autograder.wording import clean, enumeration

    now = [""]
    with (
        tempfile.TemporaryDirectory(prefix="backprop-") as scratch,
        said_on_a_terminal(lambda: f"comparing: {clean(now[0], 40)}"),
    ):
        sources = [Source(folder, Path(scratch) / str(i), export) for i, folder in enumerate(folders)]
        try:
            return read_class(sources, people, lambda student: now.__setitem__(0, student))
        except (ArchiveError, ClassUnclearError) as error:
            give_up(f"{enumeration(folders)}: {error}")
        except OSError as error:
            give_up(f"{error.filename or enumeration(folders)} cannot be used ({error.strerror})")
