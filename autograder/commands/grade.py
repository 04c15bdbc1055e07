"""`backprop grade`: grades a class."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.exits import ExitStatus
from autograder.commands.options import Rosters

if TYPE_CHECKING:
    from autograder.classroom.class_folder import ClassFolder
    from autograder.classroom.class_record import ClassRecord
    from autograder.classroom.exports import Participants
    from autograder.classroom.plan import Plan
    from autograder.gradebook.class_files import ClassFiles
    from autograder.judging.records.results import SubmissionResult

LAYOUT = "a class is DIR/<student>/<lesson>.ipynb or .py, or what a learning platform exports, a zip too"


def grade(
    folder: Annotated[
        Path,
        typer.Argument(help="The class: DIR/<student>/<lesson>.ipynb or .py, or an export of a platform, a zip too."),
    ],
    out: Annotated[Path, typer.Option(help="Where the results go.")] = Path("results"),
    jobs: Annotated[
        int, typer.Option(help="Submissions graded at a time.", show_default="one for each processor")
    ] = os.cpu_count() or 1,
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
    export: Annotated[
        bool | None,
        typer.Option(
            "--export/--no-export",
            help="Whether CLASS is, or holds one folder that is, a platform's export; else that folder is a student's.",
            show_default=False,
        ),
    ] = None,
    roster: Rosters = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let hand-ins replace results that are of another class folder.")
    ] = False,
) -> None:
    """Grade a class. Results of unchanged submissions are kept.

    The exit status is 0 if everything handed in was graded; 1 if a submission could not be graded, a result could not
    be written or taken over, or a result is another class folder's; 3 if a file was not recognised as a lesson, and so
    not graded.
    """
    from autograder.classroom.results_folder import hold
    from autograder.commands.grade_output import bring_up_to_date
    from autograder.isolation import EARLIER
    from autograder.judging.checking.salt import PUBLIC_SALT, class_key

    isolation = EARLIER.get(isolation, isolation)
    key = class_key(salt or PUBLIC_SALT)
    order = _Order(
        *(folder, out, jobs, scheduler, isolation, key),
        regrade=regrade,
        diff=diff,
        export=export,
        replace=replace,
        rosters=tuple(roster or ()),
    )
    _validate(order)
    if salt:
        _warn_if_weak(salt)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # batch systems send SIGTERM
    bring_up_to_date(out)
    grading = _Grading(order)
    with _one_line_errors(grading), hold(out):
        plan, record, found = grading.run()
    _report_and_exit(order, plan, record, found)


@dataclass(frozen=True)
class _Order:
    """The arguments of the command; see the options of `grade`."""

    folder: Path
    out: Path
    jobs: int
    scheduler: str | None
    isolation: str
    salt: str
    """The result of `class_key`, so that grading processes never have the secret itself."""
    regrade: bool
    diff: bool
    export: bool | None
    replace: bool
    rosters: tuple[Path, ...]


def _validate(order: _Order) -> None:
    """End the command if its arguments make no sense."""
    from autograder.commands.console import give_up
    from autograder.commands.courses import refuse_a_course_within
    from autograder.commands.targets import refuse_without_solutions
    from autograder.isolation import BACKENDS

    refuse_a_course_within(order.folder)
    refuse_without_solutions(
        "grade", "the course with its solutions, which hidden cases are compared with", installed=True
    )
    if order.isolation not in BACKENDS:
        give_up(f"there is no isolation {order.isolation!r}; there are {' and '.join(BACKENDS)}")
    if order.jobs < 1:
        give_up("--jobs must be at least 1")
    if nothing := _why_empty(order.folder):
        give_up(nothing)
    if _is_inside(order.out, order.folder):
        give_up(
            f"{order.out} lies in the class folder, where a hand-in could pass for a result; name a place with --out"
        )


class _Grading:
    """One run of the command."""

    def __init__(self, order: _Order) -> None:
        self.order = order
        self.plan: Plan | None = None
        """What to grade; None until the class is read."""

    def run(self) -> tuple[Plan, ClassRecord, ClassFolder]:
        """Read the class, grade what needs grading, and show the results."""
        from autograder.classroom.claims import another_class, set_claims_aside
        from autograder.classroom.class_record import ClassRecord
        from autograder.classroom.plan import Plan
        from autograder.classroom.results_folder import UNFINISHED
        from autograder.commands.console import give_up
        from autograder.commands.grade_output import (
            about_the_roster,
            say_all,
            say_what_was_there,
            show_changes,
            show_class,
        )
        from autograder.gradebook.class_files import keep_rosters, namesakes_before, participants
        from autograder.gradebook.columns import Excuses
        from autograder.judging.checking.salt import fingerprint
        from autograder.reports.progress import progress

        order = self.order
        kept = _class_files(order)
        people = kept.people
        found = _read_class(order, order.out / UNFINISHED / "handed-in", participants(people))
        if not found.work and not found.not_recognised:
            say_all(found.remarks)
            give_up(f"there are no submissions in {order.folder}; {LAYOUT}")
        record = ClassRecord(order.out)
        _refuse_other_course(record, order)
        _refuse_other_salt(record, order)
        if not order.replace and (refusal := another_class(found, record, order.folder, order.out)):
            give_up(refusal)
        names = {item.student for item in found.work}
        found.remarks += namesakes_before(names, (student for student, _ in record.handed_in))
        lessons = {item.lesson for item in found.work}
        ungraded = {row.student for row in found.not_recognised} - names
        found.remarks += about_the_roster(people, names, ungraded, Excuses(kept.rules, people).from_all_of(lessons))
        set_claims_aside(found, record, order.folder, order.out, replace=order.replace)
        record.note(order.folder, found)
        if not order.diff:
            record.write()
            keep_rosters(order.out, order.rosters)
        self.plan = plan = Plan(
            found.work,
            order.out,
            salt=order.salt,
            regrade=order.regrade,
            diff=order.diff,
            previous={place: handed_in.at for place, handed_in in record.previous.items()},
        )
        with plan.writing(), closing(_results(order, plan)) as results, progress(len(plan.work)) as advance:
            for result in results:
                plan.keep(result)
                advance(result, plan.to_grade)
        say_what_was_there(plan)
        if order.diff:
            show_changes(plan)
            return plan, record, found
        if order.regrade:
            record.salt_sha256 = fingerprint(order.salt)
            record.write()
        plan.take_over()
        show_class(plan, record, found)
        return plan, record, found

    def so_far(self) -> str:
        plan = self.plan
        return "nothing graded yet" if plan is None else f"{plan.done} of {plan.to_grade} graded, all kept"


def _report_and_exit(order: _Order, plan: Plan, record: ClassRecord, found: ClassFolder) -> None:
    """Print all remarks below the table, where they are read, and end with the exit status."""
    from autograder.classroom.results_folder import STUDENTS
    from autograder.commands.console import echo, say
    from autograder.commands.grade_output import about_others, say_all, say_what_reports_add
    from autograder.judging.checking.salt import PUBLIC_SALT

    not_graded = [f"{row.student}/{row.file}: {row.why}" for row in found.not_recognised]
    damaged = [record.problem] if record.problem else []
    remarks = [*found.remarks, *not_graded, *damaged, *about_others(record, found, order.folder, order.out)]
    say_all([*remarks, *plan.problems, *plan.ungraded])
    if order.salt == PUBLIC_SALT:
        say("no --salt: the hidden inputs are the public ones, and answers to them can be memorised")
    if _is_root():
        say("this is root: what breaks out of the sandbox has the whole machine; grade as another user")
    if order.diff:
        files = plan.waiting.with_name("changes")
        echo(f"\nThe same as files:  {files}.csv and .json")
        echo(f"Nothing is overwritten. To do that:  {_command(diff=False)}")
    else:
        echo(f"\nFull results:  {order.out / STUDENTS}/<student>/<lesson>.json")
        echo(f"One student:   backprop report {order.out} --student NAME")
        say_what_reports_add(order.out)
    lost = plan.problems or plan.ungraded or found.claimed
    if lost:
        raise typer.Exit(ExitStatus.FAILED)
    raise typer.Exit(ExitStatus.NOT_RECOGNISED if found.not_recognised else ExitStatus.DONE)


def _class_files(order: _Order) -> ClassFiles:
    """The class's roster, from tables given now or earlier, and its rules."""
    from autograder.commands.console import give_up
    from autograder.gradebook.class_files import ClassFiles
    from autograder.gradebook.roster import RosterError
    from autograder.gradebook.table_file import TableError

    try:
        return ClassFiles.at(order.out, order.rosters)
    except (RosterError, TableError) as error:
        give_up(str(error))


def _read_class(order: _Order, scratch: Path, whose: Participants) -> ClassFolder:
    """Read the class folder, with progress on a terminal."""
    from autograder.classroom.class_folder import find_work
    from autograder.commands.console import said_on_a_terminal
    from autograder.wording import clean

    now = [""]
    with said_on_a_terminal(lambda: f"reading what was handed in: {clean(now[0], 40)}"):
        return find_work(
            order.folder,
            scratch=scratch,
            export=order.export,
            participants=whose,
            at_student=lambda student: now.__setitem__(0, student),
        )


def _results(order: _Order, plan: Plan) -> Generator[SubmissionResult, None, None]:
    """Grade here or on a cluster; yields results as they become known."""
    from autograder.classroom.cluster import grade_on_cluster
    from autograder.classroom.pool import grade_all

    if order.scheduler is None:
        return grade_all(plan.looks(), jobs=order.jobs, isolation=order.isolation, salt=order.salt)
    return grade_on_cluster(plan.todo(), scheduler=order.scheduler, isolation=order.isolation, salt=order.salt)


@contextmanager
def _one_line_errors(grading: _Grading) -> Iterator[None]:
    """End the command on an error with one line: what went wrong, how much is kept, how to continue."""
    from autograder.classroom.archives import ArchiveError
    from autograder.classroom.class_level import ClassUnclearError
    from autograder.classroom.pool import PoolError
    from autograder.classroom.results_folder import UNFINISHED, FolderBusy
    from autograder.commands.console import give_up
    from autograder.isolation import IsolationError

    order = grading.order
    try:
        yield
    except KeyboardInterrupt:
        give_up(f"interrupted: {grading.so_far()}; go on with: {_command()}", code=ExitStatus.INTERRUPTED)
    except (ArchiveError, ClassUnclearError) as error:
        give_up(f"{order.folder}: {error}")
    except (PoolError, FolderBusy, IsolationError) as error:
        give_up(f"{error}" + (f"; {grading.so_far()}" if grading.plan and grading.plan.done else ""))
    except OSError as error:
        if grading.plan is None and error.filename and _is_inside(error.filename, order.folder):
            give_up(f"{error.filename} cannot be used ({error.strerror})")
        file = order.out if UNFINISHED in str(error.filename) else error.filename or order.out
        what = f"{file} cannot be written ({error.strerror})"
        give_up(f"{what}; {grading.so_far()}; when that is mended, go on with: {_command()}")


def _why_empty(folder: Path) -> str:
    """Why a class folder is empty or unreadable; "" if it may contain a class."""
    from autograder.classroom.exports import SYSTEM
    from autograder.classroom.results_folder import HIDDEN

    if folder.is_file():
        return "" if folder.suffix.lower() == ".zip" else f"{folder} is neither a folder nor a zip; {LAYOUT}"
    try:
        with os.scandir(folder) as entries:
            empty = all(
                entry.name.startswith(HIDDEN) and (entry.name in SYSTEM or not entry.is_dir())  # `__ann`: a student
                for entry in entries
            )
    except OSError as error:
        return f"{error.filename} cannot be used ({error.strerror})"
    return f"there are no submissions in {folder}; {LAYOUT}" if empty else ""


def _refuse_other_course(record: ClassRecord, order: _Order) -> None:
    """Refuse to mix results of two courses, whose lessons may have the same names."""
    from autograder.commands.console import give_up
    from course.syllabus import course_title

    if record.course and record.has_results and record.course != course_title() and not order.regrade:
        give_up(
            f"{order.out} has results of the course “{record.course}”, and this is “{course_title()}”: name that "
            "course with --course, another place with --out, or say --regrade to grade all again"
        )
    record.course = course_title()


def _refuse_other_salt(record: ClassRecord, order: _Order) -> None:
    """Refuse another salt than that of existing results, unless --regrade is given."""
    from autograder.commands.console import give_up
    from autograder.judging.checking.salt import PUBLIC_SALT, fingerprint

    if not record.salt_sha256 or not record.has_results:  # without results, any salt will do
        record.salt_sha256 = fingerprint(order.salt)
    if record.salt_sha256 == fingerprint(order.salt) or order.regrade:
        return
    if order.salt == PUBLIC_SALT:
        what = "with a salt, and none is given now; give it (--salt or BACKPROP_SALT)"
    elif record.salt_sha256 == fingerprint(PUBLIC_SALT):
        what = "without a salt, and one is given now; leave it out"
    else:
        what = "with another salt; give that one"
    give_up(f"{order.out} was graded {what}, or say --regrade to grade all again")


def _warn_if_weak(salt: str) -> None:
    """Warn if the salt could be found by brute force, given one hidden input."""
    from autograder.commands.console import say
    from autograder.judging.checking.salt import ENOUGH_BITS, guesses_in_bits

    bits = guesses_in_bits(salt)
    if bits < ENOUGH_BITS:
        say(f"this salt is weak: about 2^{bits:.0f} guesses find it; `backprop salt` makes one that nobody guesses")


def _is_inside(path: str | Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _command(*, diff: bool = True) -> str:
    """The command as it was given, without the secret, so that it can be repeated."""
    words: list[str] = []
    for word in sys.argv[1:]:
        if words and words[-1] == "--salt":
            words.append("SECRET")
        elif word.startswith("--salt="):
            words.append("--salt=SECRET")
        elif diff or word != "--diff":
            words.append(word)
    return shlex.join(["backprop", *words])
