"""The grader: it runs submissions in a confined worker and judges what they return.

In a notebook: `from autograder import lesson; check = lesson("ch06_vjps")`.
"""

# ruff: noqa: E402
import os
import sys


def _take_working_folder_off_path() -> None:
    """With `python -m autograder…`, remove the working folder from `sys.path`, unless this package is in it.

    A folder of hand-ins may contain a `typer.py` or `typing.py`, which the command would import and run. So this comes
    before all imports of modules that Python has not loaded itself, even `__future__`. While Python resolves `-m`,
    `sys.argv[0]` is "-m". With `-P` the folder is not on the path in the first place.
    """
    words = [word.removeprefix("-m").partition(".")[0] for word in sys.orig_argv[1:]]
    if getattr(sys, "argv", [])[:1] != ["-m"] or sys.flags.safe_path or "autograder" not in words:
        return
    if os.path.realpath(sys.path[0] or os.sep) != os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
        del sys.path[0]


_take_working_folder_off_path()

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.notebook import lesson

__all__ = ["lesson"]


def __getattr__(name: str) -> Any:
    if name == "lesson":  # imported on demand, because every part of the grader imports this package
        from autograder.notebook import lesson

        return lesson
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
