"""`backprop load`: puts the answers of a file of progress into the learner's notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.exits import ExitStatus

if TYPE_CHECKING:
    from autograder.learning.carried import Carried
    from course.syllabus import Lesson


def load(
    file: Annotated[Path, typer.Argument(help="What 'Save everything' or 'backprop save' has written.")],
    keep_mine: Annotated[bool, typer.Option("--keep-mine", help="Where both have an answer, keep mine.")] = False,
) -> None:
    """Put the answers of a file into my notebooks.

    What they replace is kept, as `reset` keeps it. Its results count until a check here.
    """
    from autograder.commands.console import console, give_up, say
    from autograder.commands.targets import find_targets, work_folder
    from autograder.learning import progress, whole
    from autograder.learning.answer_cells import AnswerError
    from autograder.learning.carried import put_answers
    from autograder.submission import SubmissionError
    from autograder.wording import counted
    from course.syllabus import syllabus

    try:
        _, pages = whole.read(file)
    except whole.WholeError as error:
        give_up(f"{file}: {error}")
    except OSError as error:
        give_up(f"{file} cannot be read ({error.strerror})")
    folder = work_folder(Path.cwd())
    here = {found.lesson.slug: found for found in find_targets(None, folder)}
    changed = False
    for slug, page in pages.items():
        found = here.get(slug)
        if found is None:
            if page.answers and slug in syllabus():
                short = slug.partition("_")[0]
                say(f"{slug} is not in {folder}, so its answers are left out; 'backprop start . {short}' makes it")
            elif page.answers:
                say(f"this course has no lesson {slug}: {counted(len(page.answers), 'answer')} of the file left out")
            continue
        try:
            done = put_answers(found.file, found.lesson, page, keep_mine=keep_mine)
        except (AnswerError, SubmissionError) as error:
            say(f"{found.file.name} is left as it is: {error}")
            continue
        except OSError as error:
            give_up(f"{error.filename or found.file} cannot be written ({error.strerror})", code=ExitStatus.FAILED)
        left = {*done.mine, *done.refused}
        results = {name: result for name, result in page.results.items() if name not in left}
        if problem := progress.take_over(folder, found.lesson, results, found.file.name, replaced=done.new):
            say(problem)
        _tell(found.lesson, found.file, done)
        changed = changed or bool(done.new or done.cells)
    screen = console()
    if changed:
        screen.print(
            "If a notebook is open, reload it before you go on (File > Reload Notebook from Disk).", soft_wrap=True
        )
        screen.print("'backprop check' checks the answers here.", soft_wrap=True)
    else:
        screen.print(f"Nothing in {folder} had to change.", soft_wrap=True)


def _tell(lesson: Lesson, file: Path, done: Carried) -> None:
    from autograder.commands.console import console, say
    from autograder.wording import counted

    screen, short = console(), lesson.slug.partition("_")[0]
    if done.new or done.cells:
        cells = f" and {counted(done.cells, 'cell')} of yours" if done.cells else ""
        names = f" ({', '.join(done.new)})" if done.new else ""
        screen.print(f"{short}  {counted(len(done.new), 'answer')}{cells} into {file.name}{names}", soft_wrap=True)
    for backup in done.backups:
        screen.print(f"      your former answer is kept in {backup}", soft_wrap=True)
    if done.mine:
        screen.print(f"{short}  kept your own: {', '.join(done.mine)}", soft_wrap=True)
    for problem in done.problems:
        say(problem)
