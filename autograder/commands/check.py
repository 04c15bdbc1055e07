"""`backprop check`: grades a learner's own work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.completion import lessons_and_exercises
from autograder.commands.exits import ExitStatus

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.commands.targets import Target
    from autograder.judging.records.results import SubmissionResult
    from course.syllabus import Exercise

Isolation = Annotated[str, typer.Option(help="How the code is confined: process (your own code) or sandbox.")]


def check(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help="LESSON, LESSON/EXERCISE or FILE; all lessons here if left out.",
            autocompletion=lessons_and_exercises,
        ),
    ] = None,
    hint: Annotated[int, typer.Option("--hint", count=True, help="Show a hint; twice, or --hint 2, the next too.")] = 0,
    exact: Annotated[bool, typer.Option("--exact", help="Show the failing call as code, with every digit.")] = False,
    isolation: Isolation = "process",
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Also for programs, as json, junit, github (a workflow's summary) or gradescope; or json,junit.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where --format writes files.")] = Path(),
) -> None:
    """Grade my own work. The exit status is 0 only if all of it passes."""
    from autograder.commands.again import begin_as_zygote
    from autograder.commands.console import console, give_up, say
    from autograder.commands.targets import find_targets, hints_among, shortened

    hints, named = hints_among(targets or [], hint)
    wanted: list[str | None] = [*named] or [None]
    all_found = [one for target in wanted for one in find_targets(target, Path.cwd())]
    if format_ is not None:
        from autograder.commands.check_formats import formats_in, write_formats

        formats_in(format_)  # rejects unknown formats before grading
    begin_as_zygote(context, all_found)

    from autograder.reports.feedback import print_feedback
    from autograder.submission import SubmissionError

    screen, results = console(), []
    for number, found in enumerate(all_found, 1):
        for note in found.notes():
            say(note)
        at = f"lesson {number} of {len(all_found)}, {found.lesson.slug}: " if len(all_found) > 1 else ""
        try:
            results.append(_graded(found, isolation, at))
        except SubmissionError as error:
            problem = f"{found.file}: {error}"
            if len(all_found) == 1:
                give_up(problem)
            say(problem)  # the other files are still checked
            continue
        file = shortened(found.file)
        print_feedback(screen, found.lesson, results[-1], hints=hints, file=file, exact=exact, offers_hints=True)
        noted(found, results[-1])
    if len(results) > 1:
        _print_total(screen, results)
    if format_ is not None:
        write_formats(formats_in(format_), out, results)
    passed = len(results) == len(all_found) and all(
        one.status == "graded" and one.points >= one.max_points for one in results
    )
    if passed:
        last = all_found[-1]
        print_after_a_pass(screen, last.lesson.exercise(last.exercises[-1]), last)
    raise typer.Exit(ExitStatus.DONE if passed else ExitStatus.FAILED)


def _graded(found: Target, isolation: str, at: str) -> SubmissionResult:
    """Grade one file. `at` precedes progress messages. Raises `SubmissionError` if the file cannot be read."""
    from autograder.commands.console import give_up, said_on_a_terminal
    from autograder.isolation import IsolationError, Workers
    from autograder.submission import read_submission

    submission = read_submission(found.file)
    workers = Workers(found.lesson, isolation)
    workers.begin(map(found.lesson.exercise, found.exercises))  # meanwhile imports the judge and collects checks

    from autograder.collection import with_judge
    from autograder.judging.records.errors import CheckError
    from autograder.judging.session import Judge

    def use(judge: Judge) -> SubmissionResult:
        with said_on_a_terminal(lambda: f"{at}{judge.progress.text}"):
            return judge.grade(submission, workers, only=found.exercises)

    try:
        return with_judge(found.lesson, use, only=found.exercises)
    except (IsolationError, CheckError) as error:
        give_up(str(error))
    finally:
        workers.stop()


def _print_total(screen: Console, results: list[SubmissionResult]) -> None:
    """Print a line for all files together."""
    from autograder.wording import counted

    exercises = [one for result in results for one in result.exercises]
    passed = sum(one.status == "passed" for one in exercises)
    earned, points = sum(one.points for one in results), sum(one.max_points for one in results)
    passing = f"{passed} of {counted(len(exercises), 'exercise')} pass" if exercises else "none could be graded"
    screen.print(f"\nIn all: {earned:g} of {counted(points, 'point')}; {passing}", style="bold")


def noted(found: Target, result: SubmissionResult) -> None:
    """Record the result in the work folder; if that fails, say so.

    The work folder is where the file's name is: what the name is a link to may be another's.
    """
    from autograder.commands.console import say
    from autograder.learning.progress import record

    problem = record(found.file.parent, result)
    if problem:
        say(problem)


def print_after_a_pass(screen: Console, passed: Exercise, found: Target) -> Exercise | None:
    """Name the model solution and the next exercise; returns the latter, None if all exercises pass."""
    from autograder.commands.next import print_next
    from autograder.commands.targets import is_handed_out, lessons_in
    from autograder.learning import order, progress
    from course.syllabus import syllabus

    folder = found.file.parent
    if is_handed_out(folder.resolve()):
        return None
    known = progress.read(folder)
    if len(found.exercises) == 1:
        screen.print(f"To compare with the model solution: backprop solution {order.short_name(passed)}", style="dim")
    exercise = order.next_exercise(known, syllabus(), after=passed, present=lessons_in(folder))
    if exercise is None:
        screen.print("Every exercise of the course passes.")
    else:
        print_next(screen, exercise, known, folder)
    return exercise
