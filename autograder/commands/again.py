"""Commands that judge in their own process: they start once more, as one that forks workers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from autograder.commands.targets import Target

REPLACEABLE = "a process of the command alone"
"""What a command's context has where that is so: others call commands in the middle of a process of theirs."""


def begin_as_zygote(context: typer.Context, targets: Iterable[Target]) -> None:
    """Run this command again from its beginning, if its judge is to import what the workers of `targets` need, too."""
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
