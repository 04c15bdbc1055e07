"""`backprop salt`: a secret for a class."""

from __future__ import annotations

import typer


def salt() -> None:
    """Print a new salt for a class: a secret that nobody guesses. Keep it where only graders read."""
    from autograder.judging.checking.salt import new_salt

    typer.echo(new_salt())
