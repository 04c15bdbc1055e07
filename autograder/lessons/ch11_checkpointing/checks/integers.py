"""Answers that are whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import (
    expect_close,
)

IDENTICAL: dict[str, Any] = {"rtol": 0, "atol": 0}
MOST_LAYERS = 1_000_000
"""So many that a table of 100,000 answers, a megabyte, has a tenth of what hidden inputs are drawn from, or less."""


def check_equal(exercise: str, learner, reference, *arguments: int, case: str):
    """Expect the reference's integer."""
    expected, got = (getattr(who, exercise)(*arguments) for who in (reference, learner))
    expect_close(got, expected, case=case, **IDENTICAL)


def is_int(value: Any) -> bool:
    """Whether it is an integer of Python or NumPy; a NumPy scalar may have become an array without axes."""
    if isinstance(value, np.ndarray | np.generic):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, int) and not isinstance(value, bool)
