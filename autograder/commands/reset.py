"""`backprop reset`: restores an exercise's stub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.completion import lessons_and_exercises
from autograder.commands.exits import ExitStatus


def reset(
    target: Annotated[
        str, typer.Argument(metavar="LESSON/EXERCISE", help="As ch06/relu_vjp.", autocompletion=lessons_and_exercises)
    ],
) -> None:
    """Put a stub back into my file.

    The old answer is kept in a file of its own.
    """
    from autograder.commands.console import console, give_up, say
    from autograder.commands.targets import find_exercise
    from autograder.learning import progress
    from autograder.learning.answer_cells import AnswerError
    from autograder.learning.reset import reset as put_back
    from autograder.submission import SubmissionError

    exercise, file = find_exercise(target, Path.cwd())
    try:
        done = put_back(file, exercise)
    except SubmissionError as error:
        give_up(f"{file}: {error}")
    except AnswerError as error:
        give_up(str(error), code=ExitStatus.FAILED)
    except OSError as error:
        give_up(f"{error.filename or file} cannot be written ({error.strerror})", code=ExitStatus.FAILED)
    screen = console()
    if done.changed:
        problem = progress.forget(file.parent, exercise)
        screen.print(f"{exercise.name} is a stub again in {file}.", soft_wrap=True)
        if done.kept:
            screen.print(f"Your old answer is kept in {done.kept}.", soft_wrap=True)
        if file.suffix == ".ipynb":
            how = "File > Reload Notebook from Disk"
            screen.print(f"If the notebook is open, reload it before you go on ({how}).", soft_wrap=True)
        if problem:
            say(problem)
    else:
        screen.print(f"{exercise.name} is the stub already in {file}; nothing was changed.", soft_wrap=True)
    if done.others:
        from autograder.wording import enumeration

        where = enumeration(done.others)
        say(f"{exercise.name} is defined in {where}, too; that code stays, and may be what is checked")
