"""`backprop nbgrader`: writes a course folder for nbgrader."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.completion import lessons as lessons_begun


def nbgrader(
    folder: Annotated[Path, typer.Argument(help="The course folder: a new one, or one that is there.")],
    lessons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LESSON]...", help="Those to write, as ch06; all if left out.", autocompletion=lessons_begun
        ),
    ] = None,
) -> None:
    """Write a course folder for nbgrader: a source for each lesson, and its configuration. Existing files are kept.

    All of nbgrader's commands work with it. Grade what it collects with 'backprop grade FOLDER/submitted', and
    'backprop report RESULTS --format nbgrader --gradebook FOLDER' writes points and feedback into its gradebook.
    """
    from autograder.commands.console import echo, give_up
    from autograder.commands.courses import trust_what_was_made
    from autograder.commands.targets import lesson_called
    from course.own import own_course
    from course.syllabus import syllabus

    try:
        from autograder.nbgrader_course.folder import CONFIG, write_course
    except ModuleNotFoundError as missing:
        give_up(f"nbgrader needs {missing.name}: pip install 'backprop-course[instructor]'")
    named = {lesson_called(name).slug for name in lessons or []}
    slugs = [slug for slug in syllabus() if slug in named or not named]
    try:
        new, kept = write_course(folder, slugs)
    except OSError as error:
        give_up(f"{error.filename or folder} cannot be written ({error.strerror})")
    trust_what_was_made(folder, own_course())
    for file in new:
        echo(f"  new   {file}")
    for file in kept:
        echo(f"  kept  {file} (yours: not touched)")
    if folder / CONFIG in kept:
        echo("Your configuration must not run ClearSolutions on these notebooks: see book/teach_platforms.md")
    echo(f"\nNext, in {folder}:  nbgrader generate_assignment {slugs[0]}")
