"""The trusted side: it asks a submission's functions for values and decides what they are worth.

Checks import their tools from here. They are loaded lazily, because reading results does not need pytest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.judging.checking.draws import EXACT, F32, F64, SINGLE, random
    from autograder.judging.checking.expectations import exercise, expect, expect_close, expect_raises
    from autograder.judging.checking.kinds import check_kinds
    from autograder.judging.checking.measured import agree, compare, fine, on_case
    from autograder.judging.checking.reference import function_of, misconceptions_of

__all__ = [
    "EXACT",
    "F32",
    "F64",
    "SINGLE",
    "agree",
    "check_kinds",
    "compare",
    "exercise",
    "expect",
    "expect_close",
    "expect_raises",
    "fine",
    "function_of",
    "misconceptions_of",
    "on_case",
    "random",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in ("draws", "expectations", "kinds", "measured", "reference"):
            found = vars(import_module(f"{__name__}.checking.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
