"""Makes NumPy functions accept 64-bit integers in a browser, where `np.intp` has only 32 bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

COUNTING = {"bincount": 0, "repeat": 1}
"""Functions that convert an argument to `np.intp`, with that argument's position."""


def widen(module: Any = np) -> None:
    """Wrap the functions of `COUNTING` if `np.intp` has fewer than 64 bits."""
    if np.dtype(np.intp).itemsize < 8:
        for name, place in COUNTING.items():
            setattr(module, name, _narrowed(getattr(module, name), place))


def _narrowed(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The function with its int64 argument at `place` converted to `np.intp`."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        if len(given) > place and np.asarray(given[place]).dtype == np.int64:
            given[place] = np.asarray(given[place]).astype(np.intp)
        return function(*given, **kwargs)

    return call


widen()
