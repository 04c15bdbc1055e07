"""The grader: it runs submissions in a confined worker and judges what they return.

In a notebook: `from autograder import lesson; check = lesson("ch06_vjps")`.
"""

# ruff: noqa: E402
import os
import sys


def _leave_the_working_folder() -> None:
    """With `python -m autograder…`, take the working folder from where modules are looked for, unless it holds this.

    A folder of hand-ins may have a `typer.py` or `typing.py` in it, which whoever types the command would run: so this
    comes before all imports of what Python has not loaded by itself, `__future__` among them. While `-m` looks for the
    module, `sys.argv` begins with it. `-P` keeps the folder out from the first.
    """
    words = [word.removeprefix("-m").partition(".")[0] for word in sys.orig_argv[1:]]
    if getattr(sys, "argv", [])[:1] != ["-m"] or sys.flags.safe_path or "autograder" not in words:
        return
    if os.path.realpath(sys.path[0] or os.sep) != os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
        del sys.path[0]


_leave_the_working_folder()

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.notebook import lesson

__all__ = ["lesson"]


def __getattr__(name: str) -> Any:
    if name == "lesson":  # imported when asked for: every part of the grader imports this package
        from autograder.notebook import lesson

        return lesson
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
