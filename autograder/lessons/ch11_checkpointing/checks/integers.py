"""Checks of integer answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import (
    expect_close,
)

IDENTICAL: dict[str, Any] = {"rtol": 0, "atol": 0}
MOST_LAYERS = 1_000_000
"""Hidden inputs are drawn up to this, so that a table of 100,000 answers (1 MB) contains at most a tenth of them."""


def check_equal(exercise: str, learner, reference, *arguments: int, case: str):
    """Expect the reference's integer."""
    expected, got = (getattr(who, exercise)(*arguments) for who in (reference, learner))
    expect_close(got, expected, case=case, **IDENTICAL)


def is_int(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy; a NumPy scalar may have become a 0-d array."""
    if isinstance(value, np.ndarray | np.generic):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, int) and not isinstance(value, bool)
