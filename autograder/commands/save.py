"""`backprop save`: writes all of a learner's progress into one file."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.exits import ExitStatus


def save(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; backprop-DATE.json if left out.", show_default=False)
    ] = None,
) -> None:
    """Write my answers and results into one file, for the book's pages or another folder.

    A file of this kind that exists keeps what it has besides them, such as the choices in a page's quizzes.
    """
    from autograder.commands.console import console, give_up, say
    from autograder.commands.targets import find_targets, work_folder
    from autograder.learning import progress, whole
    from autograder.learning.carried import answers_of
    from autograder.submission import SubmissionError
    from autograder.wording import counted

    folder = work_folder(Path.cwd())
    target = file or Path(f"backprop-{date.today():%Y-%m-%d}.json")
    known, pages = progress.read(folder), {}
    for found in find_targets(None, folder):
        try:
            page, problems = answers_of(found.file, found.lesson, known)
        except SubmissionError as error:
            say(f"{found.file.name} is left out: {error}")
            continue
        for problem in problems:
            say(problem)
        if page.answers or page.results or page.own:
            pages[found.lesson.slug] = page
    try:
        whole.write(target, pages)
    except whole.WholeError as error:
        give_up(f"{target}: {error}", code=ExitStatus.FAILED)
    except OSError as error:
        give_up(f"{target} cannot be written ({error.strerror})", code=ExitStatus.FAILED)
    answers, results = (sum(len(getattr(one, what)) for one in pages.values()) for what in ("answers", "results"))
    counts = f"{counted(answers, 'answer')} and {counted(results, 'result')} of {counted(len(pages), 'lesson')}"
    console().print(f"Saved {counts} in {target}.", soft_wrap=True)
    console().print("'Load everything' on the book's first page reads it, and so does 'backprop load'.", soft_wrap=True)
