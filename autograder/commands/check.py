"""`backprop check`: grade my own work, now."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Isolation = Annotated[str, typer.Option(help="How the code is confined: process (your own code) or sandbox.")]


def check(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET]...", help="LESSON, LESSON/EXERCISE or FILE; all lessons here if left out."),
    ] = None,
    hint: Annotated[int, typer.Option("--hint", count=True, help="Show a hint; twice, or --hint 2, the next too.")] = 0,
    isolation: Isolation = "process",
) -> None:
    """Grade my own work. The exit status is 0 only if all of it passes."""
    from autograder.commands.again import begin_as_zygote
    from autograder.commands.console import console, give_up, said_on_a_terminal, say
    from autograder.commands.targets import find_targets, hints_among

    hints, named = hints_among(targets or [], hint)
    wanted: list[str | None] = [*named] or [None]
    all_found = [one for target in wanted for one in find_targets(target, Path.cwd())]
    begin_as_zygote(context, all_found)

    from autograder.isolation import IsolationError, Workers
    from autograder.judging.errors import CheckError
    from autograder.judging.results import SubmissionResult
    from autograder.judging.session import Judge, with_judge
    from autograder.reports.feedback import print_feedback
    from autograder.submission import SubmissionError, read_submission

    passed = True
    for found in all_found:
        for note in found.notes():
            say(note)
        try:
            submission = read_submission(found.file)
        except SubmissionError as error:
            give_up(f"{found.file}: {error}")

        workers = Workers(found.lesson, isolation)

        def use(judge: Judge) -> SubmissionResult:
            with said_on_a_terminal(lambda: judge.doing):
                return judge.grade(submission, workers, only=found.exercises)  # noqa: B023

        try:
            workers.begin(map(found.lesson.exercise, found.exercises))  # while the checks are collected
            result = with_judge(found.lesson, use)
        except (IsolationError, CheckError) as error:
            give_up(str(error))
        finally:
            workers.stop()
        print_feedback(console(), found.lesson, result, hints=hints, file=found.file)
        passed = passed and result.status == "graded" and result.points >= result.max_points
    raise typer.Exit(0 if passed else 1)
