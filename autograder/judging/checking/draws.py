"""Random inputs and tolerances for checks that need no others."""

from __future__ import annotations

from typing import Any

import numpy as np

F32, F64 = np.float32, np.float64

EXACT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}
"""Tolerances for float64; right answers that sum in another order stay well within them."""
SINGLE: dict[str, Any] = {"rtol": 2e-5, "atol": 1e-6}
"""Tolerances for float32."""


def random(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: type[np.floating[Any]] = F64) -> np.ndarray:
    """Standard normal numbers, in an array even for shape ()."""
    return np.asarray(rng.normal(size=shape), dtype=dtype)
