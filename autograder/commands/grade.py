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
    from autograder.classroom.class_folder import ClassFolder
    from autograder.classroom.class_record import ClassRecord
    from autograder.classroom.plan import Plan

LAYOUT = "a class is DIR/<student>/<lesson>.ipynb or .py, or what a learning platform exports, a zip too"
LINES = 100
"""Submissions that a terminal shows line by line, and remarks: more of them would push the rest out of sight."""


def grade(
    folder: Annotated[
        Path,
        typer.Argument(help="The class: DIR/<student>/<lesson>.ipynb or .py, or an export of a platform, a zip too."),
    ],
    out: Annotated[Path, typer.Option(help="Where the results go.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Submissions graded at a time.")] = os.cpu_count() or 1,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Grade on a Dask cluster: its scheduler's address, tcp://HOST:PORT.", show_default=False),
    ] = None,
    isolation: Annotated[str, typer.Option(help="sandbox, or process where a class is trusted.")] = "sandbox",
    salt: Annotated[
        str | None,
        typer.Option(envvar="BACKPROP_SALT", help="The class's secret for hidden inputs.", show_default=False),
    ] = None,
    regrade: Annotated[
        bool, typer.Option("--regrade", help="Grade all again, whatever is recorded, with another salt too.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show whose points would move and why; overwrite nothing.")
    ] = False,
) -> None:
    """Grade a class. What was graded before and has not changed stays as it is.

    The exit status is 0 if all that was handed in is graded; 1 if a submission could not be graded or a result not be
    written or taken over; 3 if a file was handed in that is not recognised as a lesson's, and so not graded.
    """
    from autograder.classroom.archives import ArchiveError
    from autograder.classroom.class_folder import find_work
    from autograder.classroom.class_record import ClassRecord
    from autograder.classroom.cluster import grade_on_cluster
    from autograder.classroom.plan import Plan
    from autograder.classroom.pool import PoolError, grade_all
    from autograder.classroom.results_folder import UNFINISHED, FolderBusy, hold
    from autograder.commands.console import give_up, say
    from autograder.isolation import BACKENDS, EARLIER
    from autograder.judging.session import PUBLIC_SALT, fingerprint
    from autograder.reports.progress import progress

    isolation = EARLIER.get(isolation, isolation)
    if isolation not in BACKENDS:
        give_up(f"there is no isolation {isolation!r}; there are {' and '.join(BACKENDS)}")
    if jobs < 1:
        give_up("--jobs must be at least 1")
    if nothing := _nothing_in(folder):
        give_up(nothing)
    if _lies_in(out, folder):
        give_up(f"{out} lies in the class folder, where a hand-in could pass for a result; name a place with --out")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a job system's way to say Ctrl-C
    salt = salt or PUBLIC_SALT
    plan: Plan | None = None
    try:
        with hold(out):
            found = find_work(folder, scratch=out / UNFINISHED / "handed-in")
            if not found.work and not found.not_recognised:
                _remark(found.remarks)
                give_up(f"there are no submissions in {folder}; {LAYOUT}")
            record = ClassRecord(out)
            _see_to_the_salt(record, out, salt, regrade=regrade)
            record.note(folder, found)
            if not diff:
                record.write()
            plan = Plan(found.work, out, salt=salt, regrade=regrade, diff=diff)
            if scheduler is None:
                results = grade_all(plan.looks(), jobs=jobs, isolation=isolation, salt=salt)
            else:
                results = grade_on_cluster(plan.todo(), scheduler=scheduler, isolation=isolation, salt=salt)
            with plan.writing(), closing(results), progress(len(plan.work)) as advance:
                for result in results:
                    plan.keep(result)
                    advance(result, plan.to_grade)
            _say_what_was_there(plan)
            if diff:
                _show_changes(plan)
            else:
                if regrade:
                    record.salt_sha256 = fingerprint(salt)
                    record.write()
                plan.take_over()
                _show_class(plan, record, found)
    except KeyboardInterrupt:
        give_up(f"interrupted: {_so_far(plan)}; go on with: {_command()}", code=130)
    except ArchiveError as error:
        give_up(f"{folder}: {error}")
    except (PoolError, FolderBusy) as error:
        give_up(f"{error}" + (f"; {_so_far(plan)}" if plan and plan.done else ""))
    except OSError as error:
        if plan is None and error.filename and _lies_in(error.filename, folder):
            give_up(f"{error.filename} cannot be used ({error.strerror})")
        file = out if UNFINISHED in str(error.filename) else error.filename or out
        what = f"{file} cannot be written ({error.strerror})"
        give_up(f"{what}; {_so_far(plan)}; when that is mended, go on with: {_command()}")
    not_graded = [f"{row.student}/{row.file}: {row.why}" for row in found.not_recognised]
    damaged = [record.problem] if record.problem else []
    remarks = [*found.remarks, *not_graded, *damaged, *_about_others(record, folder, out)]
    _remark([*remarks, *plan.problems, *plan.ungraded])  # after the table, where it is read
    if salt == PUBLIC_SALT:
        say("no --salt: the hidden inputs are the public ones, and answers to them can be memorised")
    if _is_root():
        say("this is root: what breaks out of the sandbox has the whole machine; grade as another user")
    if diff:
        files = plan.waiting.with_name("changes")
        typer.echo(
            f"\nThe same as files:  {files}.csv and .json\nNothing is overwritten. To do that:  {_command(diff=False)}"
        )
    else:
        typer.echo(
            f"\nFull results:  {out}/<student>/<lesson>.json\nOne student:   backprop report {out} --student NAME"
        )
    raise typer.Exit(1 if plan.problems or plan.ungraded else 3 if found.not_recognised else 0)


def _nothing_in(folder: Path) -> str:
    """Why a class folder holds nothing at all; empty if it may hold a class."""
    from autograder.classroom.results_folder import HIDDEN

    if folder.is_file():
        return "" if folder.suffix.lower() == ".zip" else f"{folder} is neither a folder nor a zip; {LAYOUT}"
    try:
        with os.scandir(folder) as entries:
            empty = all(entry.name.startswith(HIDDEN) for entry in entries)
    except OSError as error:
        return f"{error.filename} cannot be used ({error.strerror})"
    return f"there are no submissions in {folder}; {LAYOUT}" if empty else ""


def _see_to_the_salt(record: ClassRecord, out: Path, salt: str, *, regrade: bool) -> None:
    """Stop if the results were graded with another salt and nobody says that this is meant."""
    from autograder.commands.console import give_up
    from autograder.judging.session import PUBLIC_SALT, fingerprint

    if not record.salt_sha256 or not record.has_results:  # a run that graded nothing binds nobody
        record.salt_sha256 = fingerprint(salt)
    if record.salt_sha256 == fingerprint(salt) or regrade:
        return
    if salt == PUBLIC_SALT:
        what = "with a salt, and none is given now; give it (--salt or BACKPROP_SALT)"
    elif record.salt_sha256 == fingerprint(PUBLIC_SALT):
        what = "without a salt, and one is given now; leave it out"
    else:
        what = "with another salt; give that one"
    give_up(f"{out} was graded {what}, or say --regrade to grade all again")


def _about_others(record: ClassRecord, folder: Path, out: Path) -> list[str]:
    """A line for each result that does not count any more, and one for those of other class folders."""
    lines = [
        f"{student}/{lesson} was handed in before, and the file is gone: its result stays in {out} and does not count"
        for student, lesson in record.gone()
    ]
    others = record.elsewhere(folder)
    if others:
        lines.append(f"{others:,} submissions of other class folders are in {out} too, and stay as they are")
    if record.unplaced:
        lines.append(
            f"{record.unplaced:,} results in {out} are of hand-ins that no class folder graded since holds; they "
            "count: grade their folder again, or remove them"
        )
    return lines


def _lies_in(path: str | Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _show_class(plan: Plan, record: ClassRecord, found: ClassFolder) -> None:
    """Write the summary of all results and print the table of this class folder: of a large one, a line a lesson."""
    from autograder.classroom.class_record import gone_result, unrecognised_result
    from autograder.classroom.results_folder import results_of, write_summary
    from autograder.commands.console import console
    from autograder.reports.class_table import ClassTable, LessonTable

    screen = console()
    brief = screen.is_terminal and len(plan.work) > LINES
    not_recognised = {row: unrecognised_result(row) for row in record.not_recognised}
    gone = [gone_result(one) for one in results_of(plan.results, record.gone())]
    here = {(item.student, item.lesson) for item in plan.work}
    shown = [*(not_recognised[row] for row in found.not_recognised), *gone]
    students = plan.students | {row.student for row in shown}
    table = LessonTable(screen) if brief else ClassTable(screen, students, plan.lessons)
    counted = results_of(plan.results, sorted(record.handed_in))
    for result in write_summary(plan.results, counted, [*not_recognised.values(), *gone]):
        if (result.student, result.lesson) in here:
            table.add(result)
    for row in shown:
        table.add(row)
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


def _so_far(plan: Plan | None) -> str:
    return "nothing graded yet" if plan is None else f"{plan.done} of {plan.to_grade} graded, all kept"


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
    from autograder.commands.console import say

    for remark in remarks[:LINES]:
        say(remark)
    if len(remarks) > LINES:
        say(f"and {len(remarks) - LINES:,} more such lines")
