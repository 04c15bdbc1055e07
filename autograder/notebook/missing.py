"""A package that is not installed here: one line that says what to type, in place of a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from autograder.isolation.packages import how_to_install

_INSTALL = re.compile(r"[;:] (pip install .+?)\.?$", re.MULTILINE)


def for_a_cell(message: str) -> str:
    """What the judge says, with a line to install something as a notebook's cell takes it, by itself to be copied."""
    return _INSTALL.sub(r". Run this in a cell of your own, and then the check again:\n  %\1", message)


def explain(shell: Any, packages: Iterable[str]) -> None:
    """Have a cell that imports one of these packages, where it is not installed, end with one line."""
    known = frozenset(packages)

    def tell(shell: Any, kind: type, error: Any, trace: TracebackType, tb_offset: int | None = None) -> None:
        if error.name in known:
            what = f"{error.name} is not installed. Run this in a cell of your own, and then this cell again:"
            line = f"{what}\n  %{how_to_install(error.name)}"
            error._render_traceback_ = lambda: [line]  # IPython asks for it
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    shell.set_custom_exc((ModuleNotFoundError,), tell)
