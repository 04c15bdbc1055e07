"""`backprop start`: the notebooks, somewhere to work."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer


def start(
    folder: Annotated[Path, typer.Argument(help="Where to put them.")] = Path("backprop-work"),
    format_: Annotated[str, typer.Option("--format", help="ipynb, or py for plain files in cells.")] = "ipynb",
) -> None:
    """Copy the lessons' notebooks into a folder of your own. What is there already stays as it is."""
    from autograder.commands.console import console, give_up
    from autograder.commands.targets import lesson_meant
    from autograder.workbook import FORMATS, copy_lessons

    if format_ not in FORMATS:
        give_up(f"there is no format {format_!r}; there are {' and '.join(FORMATS)}")
    meant = None if folder.exists() else lesson_meant(folder.name)
    if meant:
        give_up(f"{folder} is a lesson: name a folder for all lessons, and open {meant.slug}.ipynb there")
    try:
        copied, kept = copy_lessons(folder, format_)
    except OSError as error:
        give_up(f"{folder} cannot be written ({error.strerror})")
    screen = console()
    for file in copied:
        screen.print(f"  new   {file}")
    for file in kept:
        screen.print(f"  kept  {file} (yours: not touched)")
    screen.print("\nNext, open a notebook:")
    screen.print(
        "  jupyter lab" if find_spec("jupyterlab") else "  pip install 'backprop-course[notebook]' && jupyter lab"
    )
    screen.print("In a second terminal, if you like, see what each save changes:")
    screen.print(f"  cd {folder} && backprop watch ch06_vjps/add_vjp")
