"""`backprop start`: copies the notebooks into a work folder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.completion import lessons as lessons_begun

if TYPE_CHECKING:
    from collections.abc import Iterator


def start(
    folder: Annotated[Path, typer.Argument(help="Where to put them.")] = Path("backprop-work"),
    lessons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LESSON]...", help="Those to copy, as ch06; all if left out.", autocompletion=lessons_begun
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="ipynb, or py for plain files in cells.")] = "ipynb",
) -> None:
    """Copy the lessons' notebooks into a folder of your own. Existing files are kept."""
    from autograder.commands.console import console, give_up
    from autograder.commands.courses import trust_what_was_made
    from autograder.commands.targets import lesson_called, lesson_meant
    from autograder.places import Places
    from autograder.workbook import FORMATS, copy_lessons
    from course.own import own_course
    from course.syllabus import syllabus

    if format_ not in FORMATS:
        give_up(f"there is no format {format_!r}; there are {' and '.join(FORMATS)}")
    meant = None if folder.exists() else lesson_meant(folder.name)
    if meant:
        short = meant.slug.partition("_")[0]
        give_up(f"{folder} is a lesson: name a folder before it, as in 'backprop start my-work {short}'")
    _refuse_a_folder_of_another_course(folder)
    named = {lesson_called(name).slug for name in lessons or []}
    wanted = [lesson for slug, lesson in syllabus().items() if slug in named or not named]
    for lesson in wanted:
        if not Places().notebook(lesson.slug).exists():
            give_up(f"{lesson.slug} has no notebook yet: 'backprop build' writes it")
    try:
        copied, kept = copy_lessons(folder, format_, wanted)
    except OSError as error:
        give_up(f"{error.filename or folder} cannot be written ({error.strerror})")
    except UnicodeError as error:
        give_up(f"{folder} cannot say where its course is: {error}; give that folder another name")
    trust_what_was_made(folder, own_course())
    screen = console()
    for file in copied:
        screen.print(f"  new   {file}")
    for file in kept:
        screen.print(f"  kept  {file} (yours: not touched)")
    for line in _next_steps(folder, format_, [lesson.slug for lesson in wanted]):
        screen.print(line, soft_wrap=True)


def _refuse_a_folder_of_another_course(folder: Path) -> None:
    """End the command if the folder belongs to another course, which would claim these notebooks."""
    from autograder.commands.console import give_up
    from course.own import FILE, course_named, own_course

    if (folder / FILE).is_file() and (own := course_named(str(folder))) != own_course():
        give_up(f"{folder} is for the course in {own}, as its {FILE} says; name another folder")


def _next_steps(folder: Path, format_: str, slugs: list[str]) -> Iterator[str]:
    """The next steps for this format: at the first exercise, or where the folder's progress is."""
    from autograder.distribution import how_to_install_extra
    from autograder.learning import order, progress
    from autograder.sections import read_command
    from course.syllabus import syllabus

    exercise = order.next_exercise(progress.read(folder), syllabus(), present=slugs)
    if exercise is None:
        yield "\nEvery exercise of the course passes in this folder."
        return
    lesson = syllabus()[exercise.lesson]
    minutes = f"about {order.about_minutes(exercise, lesson)} minutes with its section"
    file = f"{exercise.lesson}.{format_}"
    if format_ == "ipynb":
        yield f"\nNext, open {file} in JupyterLab:"
        install = "" if find_spec("jupyterlab") else f"{how_to_install_extra('notebook')} && "
        yield f"  {install}jupyter lab"
        yield f"Begin with {exercise.name} ({minutes}): write it, run its cell, and then the check below it."
        yield "In a second terminal, if you like, see what each save changes:"
    else:
        yield f"\nNext, open {folder / file} in your editor."
        yield f"Begin with {exercise.name} ({minutes})."
        yield "In a terminal, see at each save what is right and what is wrong:"
    yield f"  cd {folder} && backprop watch"
    yield f"There, '{read_command(exercise.lesson, exercise.anchor)}' shows the section that teaches it,"
    yield "'backprop status' how far you are, and 'backprop next' what comes next."
