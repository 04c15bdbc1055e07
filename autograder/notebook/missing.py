"""Replaces the traceback of a missing package by a line with the command that installs it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from autograder.isolation.packages import how_to_install

_INSTALL = re.compile(r"[;:] (pip install .+?)\.?$", re.MULTILINE)


def for_a_cell(message: str) -> str:
    """The judge's message with its `pip install` command as a `%pip` magic on a separate line, ready to copy."""
    return _INSTALL.sub(r". Run this in a cell of your own, and then the check again:\n  %\1", message)


def explain(shell: Any, packages: Iterable[str]) -> None:
    """Make the shell show one line instead of a traceback when a cell imports one of these packages in vain."""
    known = frozenset(packages)

    def tell(shell: Any, kind: type, error: Any, trace: TracebackType, tb_offset: int | None = None) -> None:
        if error.name in known:
            what = f"{error.name} is not installed. Run this in a cell of your own, and then this cell again:"
            line = f"{what}\n  %{how_to_install(error.name)}"
            error._render_traceback_ = lambda: [line]  # IPython asks for it
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    shell.set_custom_exc((ModuleNotFoundError,), tell)
