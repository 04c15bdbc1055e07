"""`backprop salt`: makes a secret for a class."""

from __future__ import annotations


def salt() -> None:
    """Print a new salt for a class: a secret that nobody can guess. Keep it where only graders can read it."""
    from autograder.commands.console import echo
    from autograder.judging.checking.salt import new_salt

    echo(new_salt())
