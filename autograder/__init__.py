"""The grader: it runs submissions in a confined worker and judges what they return.

In a notebook: `from autograder import lesson; check = lesson("ch06_vjps")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.notebook import lesson

__all__ = ["lesson"]


def __getattr__(name: str) -> Any:
    if name == "lesson":  # imported when asked for: every part of the grader imports this package
        from autograder.notebook import lesson

        return lesson
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
