"""Saying things on the terminal, and giving up with one clear line."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console

from autograder.diagnosis.wording import clean


def console() -> Console:
    """Where results go. Nothing is read as markup: results quote what submissions say."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False)


def give_up(message: str, *, code: int = 2) -> NoReturn:
    """End the command with one line on standard error."""
    typer.echo(f"backprop: {clean(message, 500)}", err=True)
    raise typer.Exit(code)
