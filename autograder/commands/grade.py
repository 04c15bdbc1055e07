"""`backprop grade`: a class."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def grade(
    folder: Annotated[Path, typer.Argument(help="The class: DIR/<student>/<lesson>.ipynb or .py.")],
    out: Annotated[Path, typer.Option(help="Where the results go.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Submissions graded at a time.")] = os.cpu_count() or 1,
    isolation: Annotated[str, typer.Option(help="sandlock, or process where a class is trusted.")] = "sandlock",
    salt: Annotated[
        str | None,
        typer.Option(envvar="BACKPROP_SALT", help="The class's secret for hidden inputs.", show_default=False),
    ] = None,
) -> None:
    """Grade a class. What was graded before and has not changed stays as it is."""
    from autograder.classroom.class_folder import find_work
    from autograder.classroom.grading import up_to_date
    from autograder.classroom.pool import PoolError, grade_all
    from autograder.classroom.results_folder import read_result, read_results, result_file, write_summary
    from autograder.commands.console import console, give_up
    from autograder.diagnosis.wording import clean
    from autograder.isolation import BACKENDS
    from autograder.judging.results import write_json
    from autograder.judging.session import PUBLIC_SALT
    from autograder.reports.class_table import print_class
    from autograder.reports.progress import progress

    if isolation not in BACKENDS:
        give_up(f"there is no isolation {isolation!r}; there are {' and '.join(BACKENDS)}")
    if jobs < 1:
        give_up("--jobs must be at least 1")
    try:
        work, remarks = find_work(folder, results=out)
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        give_up(f"{error.filename} cannot be used ({error.strerror})")
    if not work:
        for remark in remarks:
            typer.echo(f"backprop: {clean(remark, 500)}", err=True)
        give_up(f"there are no submissions in {folder}; a class folder is DIR/<student>/<lesson>.ipynb or .py")
    salt = salt or PUBLIC_SALT
    todo = [w for w in work if not up_to_date(read_result(result_file(out, w.student, w.lesson)), w, salt)]
    done = 0
    try:
        with progress(len(todo), len(work) - len(todo)) as advance:
            for result in grade_all(todo, jobs=jobs, isolation=isolation, salt=salt):
                write_json(result_file(out, result.student, result.lesson), result.to_json())
                done += 1
                advance(result)
    except KeyboardInterrupt:
        give_up(f"interrupted: {done} of {len(todo)} graded, all kept; the same command goes on from here", code=130)
    except PoolError as error:
        give_up(str(error))
    except OSError as error:
        give_up(
            f"{error.filename or out} cannot be written ({error.strerror}); {done} of {len(todo)} are graded and kept"
        )
    wanted = {(w.student, w.lesson) for w in work}
    results = [r for r in read_results(out)[0] if (r.student, r.lesson) in wanted]
    write_summary(out, results)
    print_class(console(), results)
    for remark in remarks:  # after the table, where it is read
        typer.echo(f"backprop: {clean(remark, 500)}", err=True)
    if salt == PUBLIC_SALT:
        typer.echo(
            "backprop: no --salt: the hidden inputs are the public ones, and answers to them can be memorised", err=True
        )
    typer.echo(f"\nFull results:  {out}/<student>/<lesson>.json\nOne student:   backprop report {out} --student NAME")
