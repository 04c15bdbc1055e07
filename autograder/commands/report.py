"""`backprop report`: what a graded class looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    results: Annotated[Path, typer.Argument(help="The folder that 'backprop grade' wrote.")],
    format_: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    student: Annotated[str | None, typer.Option(help="Only this student, with the feedback in full.")] = None,
) -> None:
    """Show the results of a class."""
    import json

    from autograder.classroom.results_folder import read_results
    from autograder.commands.console import console, give_up
    from autograder.reports.class_table import print_class
    from autograder.reports.feedback import print_feedback
    from course.syllabus import find_lesson

    found, problems = read_results(results)
    if student is not None:
        found = [result for result in found if result.student == student]
    if not found:
        who = f" of {student}" if student else ""
        give_up(f"there are no results{who} in {results}" + (f" ({problems[0]})" if problems else ""))
    screen = console()
    if format_ == "json":
        typer.echo(json.dumps([result.to_json() for result in found], indent=1, ensure_ascii=False))
    elif format_ != "terminal":
        give_up(f"there is no format {format_!r}; there are terminal and json")
    elif student is not None:
        for result in found:
            print_feedback(screen, find_lesson(result.lesson), result, hints=1)
    else:
        print_class(screen, found)
    for problem in problems:
        typer.echo(f"backprop: {problem}", err=True)
