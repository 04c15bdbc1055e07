"""Lets commands that judge in their own process re-execute themselves as a zygote, which forks workers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from autograder.commands.targets import Target

REPLACEABLE = "a process of the command alone"
"""Context object that says the process belongs to the command alone and may be re-executed."""


def begin_as_zygote(context: typer.Context, targets: Iterable[Target]) -> None:
    """Re-execute this command as a zygote that imports the packages of `targets`, if its process may be replaced."""
    from autograder.commands.console import give_up
    from autograder.isolation.base import IsolationError
    from autograder.isolation.zygote import become_judge

    if context.obj == REPLACEABLE:
        try:
            become_judge(
                "autograder", sys.argv[1:], [environment for target in targets for environment in target.environments]
            )
        except IsolationError as error:
            give_up(str(error))
