"""What `backprop grade` says at its end: the table, the changes, and a line for whatever else there is to know."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import typer

from autograder.classroom.class_folder import ClassFolder
from autograder.classroom.class_record import ClassRecord, gone_result, unrecognised_result
from autograder.classroom.exports import UNKNOWN
from autograder.classroom.plan import Plan
from autograder.classroom.results_folder import results_of, write_summary
from autograder.commands.console import console, say
from autograder.gradebook.overrides import OVERRIDES
from autograder.gradebook.people import People
from autograder.gradebook.roster import Person
from autograder.gradebook.rules import RULES
from autograder.reports.changes import ChangesTable, change_files
from autograder.reports.class_table import ClassTable, LessonTable

MOST_NAMED = 10
"""Students who handed in nothing that are named."""
LINES = 100
"""Submissions that a terminal shows line by line, and remarks: more of them would push the rest out of sight."""


def show_class(plan: Plan, record: ClassRecord, found: ClassFolder) -> None:
    """Write the summary of all results and print the table of this class folder: of a large one, a line a lesson."""
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


def show_changes(plan: Plan) -> None:
    """Print and write what this grading would change."""
    table = ChangesTable(console(), plan.students, plan.lessons)
    with change_files(plan.waiting.parent) as (write, changes):
        for before, after in plan.compared():
            for move in changes.add(before, after):
                table.add(move)
                write(move)
    table.finish(changes)


def say_what_was_there(plan: Plan) -> None:
    """How many submissions need not be graded in this run, and why."""
    if plan.unchanged:
        typer.echo(f"{plan.unchanged} submissions are graded already and have not changed", err=True)
    if plan.found:
        typer.echo(
            f"{plan.found} were graded by an earlier --regrade or --diff, and nothing has changed since", err=True
        )


def about_others(record: ClassRecord, found: ClassFolder, folder: Path, out: Path) -> list[str]:
    """A line for each result that does not count any more, and one for those of other class folders."""
    lines = [
        f"{student}/{lesson} was handed in before, and the file is gone: its result stays in {out} and does not count"
        for student, lesson in record.gone()
    ]
    others = record.elsewhere(folder)
    if others:
        lines.append(f"{others:,} submissions of other class folders are in {out} too, and stay as they are")
    if found.given_up:
        lines.append(
            f"{found.given_up:,} hand-ins in {folder} were replaced by those of other class folders; --replace takes "
            "them back"
        )
    if record.unplaced:
        lines.append(
            f"{record.unplaced:,} results in {out} are of hand-ins that no class folder graded since holds; they "
            "count: grade their folder again, or remove them"
        )
    return lines


def about_the_roster(people: list[Person], names: Collection[str], others: Iterable[str] = ()) -> list[str]:
    """Lines for who is on the roster and handed in nothing, or nothing but files of `others` that cannot be graded.

    Each name that is not on the roster has one, too.
    """
    if not people:
        return []
    ungraded = set(others) - {*names, UNKNOWN}
    found = People(people, [*names, *sorted(ungraded)])
    listed = [(one.shown, {*one.own, *one.of_team}) for one in found.students if one.person is not None]
    nothing = [shown for shown, handed_in in listed if not handed_in]
    no_work = [shown for shown, handed_in in listed if handed_in and handed_in <= ungraded]
    lines = [
        f"on the roster, and handed in nothing {what}: {', '.join(who[:MOST_NAMED])}"
        + (f" and {len(who) - MOST_NAMED} more" if len(who) > MOST_NAMED else "")
        for what, who in (("here", nothing), ("that can be graded", no_work))
        if who
    ]
    return [*lines, *found.problems]


def say_what_reports_add(out: Path) -> None:
    """That points of this table are the grader's, where a class has rules or a teacher decided something."""
    there = [name for name in (RULES, OVERRIDES) if (out / name).is_file()]
    if there:
        typer.echo(f"Points above are the grader's own: {' and '.join(there)} hold in every 'backprop report {out}'")


def say_all(remarks: list[str]) -> None:
    """A line for each remark; of very many, the first."""
    for remark in remarks[:LINES]:
        say(remark)
    if len(remarks) > LINES:
        say(f"and {len(remarks) - LINES:,} more such lines")
