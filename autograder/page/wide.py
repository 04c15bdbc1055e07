"""A browser's NumPy counts with 32 bits: functions that take 64-bit integers elsewhere are to take them here, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

COUNTING = {"bincount": 0, "repeat": 1}
"""Functions that count with what they are given, and the place of that among their arguments."""


def widen(module: Any = np) -> None:
    """Have them take 64-bit integers, where a place in memory has fewer bits."""
    if np.dtype(np.intp).itemsize < 8:
        for name, place in COUNTING.items():
            setattr(module, name, _narrowed(getattr(module, name), place))


def _narrowed(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The function, called with integers as narrow as it takes them."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        if len(given) > place and np.asarray(given[place]).dtype == np.int64:
            given[place] = np.asarray(given[place]).astype(np.intp)
        return function(*given, **kwargs)

    return call


widen()
