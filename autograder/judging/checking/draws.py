"""What checks draw, and how close an answer must come, where a lesson has no reason for numbers of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

F32, F64 = np.float32, np.float64

EXACT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}
"""For float64: right answers that add in another order stay far within it."""
SINGLE: dict[str, Any] = {"rtol": 2e-5, "atol": 1e-6}
"""For float32."""


def random(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: type[np.floating[Any]] = F64) -> np.ndarray:
    """Normal random numbers; an array for the shape () too."""
    return np.asarray(rng.normal(size=shape), dtype=dtype)
