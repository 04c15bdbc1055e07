"""Prints to the terminal, and ends commands with one clear line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.text import Text

from autograder.commands.exits import ExitStatus
from autograder.reports.safety import printable
from autograder.reports.screen import Screen
from autograder.wording import clean


def console() -> Screen:
    """The console for results."""
    return Screen(soft_wrap=False)


def echo(text: object, *, err: bool = False) -> None:
    """Print lines that are not a table, to standard output or standard error."""
    typer.echo(printable(str(text), limit=sys.maxsize), err=err)


@contextmanager
def said_on_a_terminal(doing: Callable[[], str]) -> Iterator[None]:
    """Show progress while the enclosed work takes long; nothing without a terminal."""
    from autograder.judging.waiting import said_if_slow

    screen = Screen(stderr=True)
    if not screen.is_terminal:
        yield
        return
    status = screen.status("")

    def say(text: str) -> None:
        status.update(Text(f"{text} … (Ctrl-C stops it)"))
        status.start()

    try:
        with said_if_slow(doing, say):
            yield
    finally:
        status.stop()


def say(message: str) -> None:
    """Print one line to standard error."""
    typer.echo(f"backprop: {clean(message, 500)}", err=True)


def give_up(message: str, *, code: ExitStatus = ExitStatus.REFUSED) -> NoReturn:
    """End the command with one line on standard error."""
    say(message)
    raise typer.Exit(code)
