"""Compares vector-Jacobian products with the reference for random upstream gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import EXACT, F32, F64, expect_close

SINGLE = {"rtol": 1e-4, "atol": 1e-5}
DTYPES = {  # what is float32, for operations with one input: (dtype of g, dtype of the input)
    "float32 throughout": (F32, F32),
    "a float32 input and a float64 g": (F64, F32),
}


def agree_on(
    mine: Callable[..., Any],
    theirs: Callable[..., Any],
    *arguments: Any,
    names: tuple[str, ...],
    case: str,
    rtol: float = EXACT["rtol"],
    atol: float = EXACT["atol"],
    **options: Any,
) -> None:
    """Expect the learner's function to return what the reference returns."""
    expected = theirs(*arguments, **options)
    expect_close(mine(*arguments, **options), expected, names=names, case=case, rtol=rtol, atol=atol)


def distinct(rng, shape, dtype=F64):
    """Random numbers of both signs at least 0.5 apart, so that every maximum is clear."""
    size = int(np.prod(shape))
    numbers = rng.permutation(size) - size / 2 + rng.uniform(0.0, 0.5, size=size)
    return numbers.reshape(shape).astype(dtype)
