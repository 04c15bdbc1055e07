"""Prints what `backprop grade` reports at its end: the table, the changes and remarks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from autograder.classroom.class_folder import ClassFolder
from autograder.classroom.class_record import ClassRecord, gone_result, unrecognised_result
from autograder.classroom.plan import Plan
from autograder.classroom.results_folder import (
    STUDENTS,
    FolderBusy,
    move_to_students,
    results_of,
    write_summary,
)
from autograder.classroom.student_names import UNKNOWN
from autograder.commands.console import console, echo, give_up, say
from autograder.gradebook.overrides import OVERRIDES
from autograder.gradebook.people import People
from autograder.gradebook.roster import Person
from autograder.gradebook.rules import RULES
from autograder.reports.changes import ChangesTable, change_files
from autograder.reports.class_table import ClassTable, LessonTable
from autograder.wording import counted, some

MOST_NAMED = 10
"""At most this many students without hand-ins are named."""
UNCHANGED = (
    "submission is graded already and has not changed",
    "submissions are graded already and have not changed",
)
"""Singular and plural for `counted`."""
OF_OTHERS = "submission of another class folder is", "submissions of other class folders are"
LINES = 100
"""At most this many submissions are listed on a terminal, and this many remarks: more would scroll the rest away."""


def bring_up_to_date(results: Path) -> None:
    """Move results from an older grader's layout and say so; end the command if that fails."""
    try:
        moved = move_to_students(results)
    except FolderBusy as error:
        give_up(str(error))
    except OSError as error:
        give_up(f"{error.filename or results}: results of an older grader cannot be moved ({error.strerror})")
    if moved:
        say(f"results of {counted(moved, 'student')}, written by an older grader, were moved to {results / STUDENTS}")


def show_class(plan: Plan, record: ClassRecord, found: ClassFolder) -> None:
    """Write the summary of all results and print this class folder's table, of a large class with a line per lesson."""
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
    """Print how many submissions need no grading in this run, and why."""
    if plan.unchanged:
        echo(counted(plan.unchanged, *UNCHANGED), err=True)
    if plan.found:
        found = counted(plan.found, "was", "were")
        echo(f"{found} graded by an earlier --regrade or --diff, and nothing has changed since", err=True)


def about_others(record: ClassRecord, found: ClassFolder, folder: Path, out: Path) -> list[str]:
    """A line for each result that no longer counts, and one for those of other class folders."""
    lines = [
        f"{student}/{lesson} was handed in before, and the file is gone: its result stays in {out} and does not count"
        for student, lesson in record.gone()
    ]
    others = record.elsewhere(folder)
    if others:
        lines.append(
            f"{counted(others, *OF_OTHERS)} in {out} too, and {'stays as it is' if others == 1 else 'stay as they are'}"
        )
    if found.given_up:
        lines.append(
            f"{counted(found.given_up, 'hand-in')} in {folder} {'was' if found.given_up == 1 else 'were'} replaced by "
            "those of other class folders; --replace takes them back"
        )
    if record.unplaced:
        lines.append(
            f"{counted(record.unplaced, 'result')} in {out} still {'counts' if record.unplaced == 1 else 'count'}, of "
            "hand-ins that no class folder graded since holds: grade their folder again, or remove them"
        )
    return lines


def about_the_roster(
    people: list[Person], names: Collection[str], ungraded: Collection[str], is_excused: Callable[[Person], bool]
) -> list[str]:
    """Lines on students of the roster without gradable hand-ins, and on hand-ins of people who are not on it.

    Args:
        ungraded: names of hand-ins without a lesson's file: a PDF, say, or typed-in text.
    """
    if not people:
        return []
    found = People(people, [*names, *sorted({*ungraded} - {UNKNOWN})])
    lines: dict[str, list[str]] = {
        "handed in nothing here": [],
        "handed in nothing here, being excused": [],
        "handed in nothing that can be graded": [],
        "may have handed in what could be several people's": [],
    }
    for student in found.students:
        handed_in = {*student.own, *student.of_team}
        if student.person is not None and not handed_in & {*names}:
            what = "handed in nothing here, being excused" if is_excused(student.person) else "handed in nothing here"
            if student.person in found.doubtful:
                what = "may have handed in what could be several people's"
            lines["handed in nothing that can be graded" if handed_in else what].append(student.shown)
    said = [f"on the roster, and {what}: {some(who, MOST_NAMED)}" for what, who in lines.items() if who]
    return [*said, *found.problems]


def say_what_reports_add(out: Path) -> None:
    """Say that the table has the grader's own points if rules or overrides may change them."""
    there = [name for name in (RULES, OVERRIDES) if (out / name).is_file()]
    if there:
        hold = "hold" if len(there) > 1 else "holds"
        echo(f"Points above are the grader's own: {' and '.join(there)} {hold} in every 'backprop report {out}'")


def say_all(remarks: list[str]) -> None:
    """Print the first `LINES` remarks, and how many more there are."""
    for remark in remarks[:LINES]:
        say(remark)
    if len(remarks) > LINES:
        say(f"and {len(remarks) - LINES:,} more such lines")
