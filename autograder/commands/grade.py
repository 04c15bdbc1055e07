"""`backprop grade`: a class."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autograder.classroom.plan import Plan

LINES = 100
"""Submissions that a terminal shows line by line, and remarks: more of them would push the rest out of sight."""


def grade(
    folder: Annotated[Path, typer.Argument(help="The class: DIR/<student>/<lesson>.ipynb or .py.")],
    out: Annotated[Path, typer.Option(help="Where the results go.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Submissions graded at a time.")] = os.cpu_count() or 1,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Grade on a Dask cluster: its scheduler's address, tcp://HOST:PORT.", show_default=False),
    ] = None,
    isolation: Annotated[str, typer.Option(help="sandlock, or process where a class is trusted.")] = "sandlock",
    salt: Annotated[
        str | None,
        typer.Option(envvar="BACKPROP_SALT", help="The class's secret for hidden inputs.", show_default=False),
    ] = None,
    regrade: Annotated[bool, typer.Option("--regrade", help="Grade all again, whatever is recorded.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show whose points would move and why; overwrite nothing.")
    ] = False,
) -> None:
    """Grade a class. What was graded before and has not changed stays as it is."""
    from autograder.classroom.class_folder import find_work
    from autograder.classroom.cluster import grade_on_cluster
    from autograder.classroom.plan import Plan
    from autograder.classroom.pool import PoolError, grade_all
    from autograder.classroom.results_folder import UNFINISHED, FolderBusy, hold
    from autograder.commands.console import give_up
    from autograder.isolation import BACKENDS
    from autograder.judging.session import PUBLIC_SALT
    from autograder.reports.progress import progress

    if isolation not in BACKENDS:
        give_up(f"there is no isolation {isolation!r}; there are {' and '.join(BACKENDS)}")
    if jobs < 1:
        give_up("--jobs must be at least 1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a job system's way to say Ctrl-C
    try:
        work, remarks = find_work(folder, results=out)
    except OSError as error:
        give_up(f"{error.filename} cannot be used ({error.strerror})")
    if not work:
        _remark(remarks)
        give_up(f"there are no submissions in {folder}; a class folder is DIR/<student>/<lesson>.ipynb or .py")
    salt = salt or PUBLIC_SALT
    plan = Plan(work, out, salt=salt, regrade=regrade, diff=diff)
    try:
        with hold(out):
            if scheduler is None:
                results = grade_all(plan.looks(), jobs=jobs, isolation=isolation, salt=salt)
            else:
                results = grade_on_cluster(plan.todo(), scheduler=scheduler, isolation=isolation, salt=salt)
            with plan.writing(), closing(results), progress(len(work)) as advance:
                for result in results:
                    plan.keep(result)
                    advance(result, plan.to_grade)
            _say_what_was_there(plan)
            if diff:
                _show_changes(plan)
            else:
                plan.take_over()
                _show_class(plan)
    except KeyboardInterrupt:
        give_up(f"interrupted: {_so_far(plan)}; go on with: {_command()}", code=130)
    except (PoolError, FolderBusy) as error:
        give_up(f"{error}" + (f"; {_so_far(plan)}" if plan.done else ""))
    except OSError as error:
        file = out if UNFINISHED in str(error.filename) else error.filename or out
        what = f"{file} cannot be written ({error.strerror})"
        give_up(f"{what}; {_so_far(plan)}; when that is mended, go on with: {_command()}")
    _remark([*remarks, *plan.problems, *plan.ungraded])  # after the table, where it is read
    if salt == PUBLIC_SALT:
        typer.echo(
            "backprop: no --salt: the hidden inputs are the public ones, and answers to them can be memorised", err=True
        )
    if diff:
        files = plan.waiting.with_name("changes")
        typer.echo(
            f"\nThe same as files:  {files}.csv and .json\nNothing is overwritten. To do that:  {_command(diff=False)}"
        )
    else:
        typer.echo(
            f"\nFull results:  {out}/<student>/<lesson>.json\nOne student:   backprop report {out} --student NAME"
        )
    raise typer.Exit(1 if plan.problems or plan.ungraded else 0)


def _show_class(plan: Plan) -> None:
    """Write the summary and print the table: of a large class on a terminal, a line for each lesson."""
    from autograder.classroom.results_folder import results_of, write_summary
    from autograder.commands.console import console
    from autograder.reports.class_table import ClassTable, LessonTable

    screen = console()
    brief = screen.is_terminal and len(plan.work) > LINES
    table = LessonTable(screen) if brief else ClassTable(screen, plan.students, plan.lessons)
    for result in write_summary(plan.results, results_of(plan.results, plan.work)):
        table.add(result)
    table.finish()
    if brief:
        screen.print(f"\nEach submission:  backprop report {plan.results}")


def _show_changes(plan: Plan) -> None:
    """Print and write what this grading would change."""
    from autograder.commands.console import console
    from autograder.reports.changes import ChangesTable, change_files

    table = ChangesTable(console(), plan.students, plan.lessons)
    with change_files(plan.waiting.parent) as (write, changes):
        for before, after in plan.compared():
            for move in changes.add(before, after):
                table.add(move)
                write(move)
    table.finish(changes)


def _say_what_was_there(plan: Plan) -> None:
    """How many submissions need not be graded in this run, and why."""
    if plan.unchanged:
        typer.echo(f"{plan.unchanged} submissions are graded already and have not changed", err=True)
    if plan.found:
        typer.echo(
            f"{plan.found} were graded by an earlier --regrade or --diff, and nothing has changed since", err=True
        )


def _so_far(plan: Plan) -> str:
    return f"{plan.done} of {plan.to_grade} graded, all kept"


def _command(*, diff: bool = True) -> str:
    """The command that was given, to be given again; the class's secret is not for the screen."""
    words: list[str] = []
    for word in sys.argv[1:]:
        if words and words[-1] == "--salt":
            words.append("SECRET")
        elif word.startswith("--salt="):
            words.append("--salt=SECRET")
        elif diff or word != "--diff":
            words.append(word)
    return shlex.join(["backprop", *words])


def _remark(remarks: list[str]) -> None:
    from autograder.diagnosis.wording import clean

    for remark in remarks[:LINES]:
        typer.echo(f"backprop: {clean(remark, 500)}", err=True)
    if len(remarks) > LINES:
        typer.echo(f"backprop: and {len(remarks) - LINES:,} more such lines", err=True)
