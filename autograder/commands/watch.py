"""`backprop watch`: check again whenever the file is saved."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer


def watch(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="LESSON, LESSON/EXERCISE or FILE.")],
) -> None:
    """Check on every save, in well under a second. Ctrl-C ends it."""
    from autograder.commands.again import begin_as_zygote
    from autograder.commands.console import console, give_up, said_on_a_terminal, say
    from autograder.commands.targets import find_targets

    found = find_targets(target, Path.cwd())[0]
    begin_as_zygote(context, [found])

    from watchfiles import watch as changes

    from autograder.isolation import IsolationError, Workers
    from autograder.judging.errors import CheckError
    from autograder.judging.session import Judge, with_judge
    from autograder.reports.feedback import print_feedback
    from autograder.submission import SubmissionError, read_submission

    screen = console()
    for note in found.notes():
        say(note)

    def use(judge: Judge) -> None:
        workers = Workers(judge.lesson, "process")

        def check() -> None:
            start = time.perf_counter()
            try:
                submission = read_submission(found.file)
            except SubmissionError as error:
                screen.print(f"{found.file}: {error}")
                return
            with said_on_a_terminal(lambda: judge.doing):
                result = judge.grade(submission, workers, only=found.exercises)
            print_feedback(screen, found.lesson, result, hints=0, file=found.file)
            screen.print(f"({time.perf_counter() - start:.2f} s; watching {found.file}, Ctrl-C ends it)", style="dim")

        try:
            check()
            for _ in changes(
                found.file.parent, debounce=50, step=20, watch_filter=lambda _, path: Path(path).name == found.file.name
            ):
                screen.rule(time.strftime("%H:%M:%S"), style="dim")
                check()
        except KeyboardInterrupt:
            pass
        finally:
            workers.stop()

    try:
        with_judge(found.lesson, use)
    except (IsolationError, CheckError) as error:
        give_up(str(error))
