"""The error of a finite difference of exp: measured, and in theory as the sum of truncation and round-off.

All errors are relative to the slope. Every derivative of exp is exp, so the theory has no free constants. The chapter
on the chain rule has the same functions in its text, and the widget `step_size` shows their results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

DTYPES: Mapping[str, type[np.floating[Any]]] = {"float32": np.float32, "float64": np.float64}
FORMULAS = ("one-sided", "central")
POINTS = 400
"""The number of points, from 0.5 to 1, over which errors are averaged."""


class Run(NamedTuple):
    """The two values that are subtracted at one point, their difference, and the slope."""

    up: np.floating[Any]
    down: np.floating[Any]
    difference: float
    slope: float


def difference(x: NDArray[np.floating[Any]], h: np.floating[Any], formula: str) -> NDArray[np.float64]:
    """The finite-difference slope of exp at each of `x`: exp in the dtype of `x`, the subtraction in float64."""
    central = formula == "central"
    up = np.exp(x + h).astype(np.float64)
    down = np.exp(x - h if central else x).astype(np.float64)
    return np.asarray((up - down) / ((1 + central) * float(h)))


def rms_error(dtype: str, h: float, formula: str) -> float:
    """The root mean square of the relative error over `POINTS` points."""
    x = np.random.default_rng(0).uniform(0.5, 1, size=POINTS).astype(DTYPES[dtype])
    true = np.exp(x.astype(np.float64))
    slope = difference(x, DTYPES[dtype](h), formula)
    return float(np.sqrt(np.mean((slope / true - 1) ** 2)))


def run(dtype: str, x: float, h: float, formula: str) -> Run:
    """The finite difference at `x`, with its intermediate values."""
    of, central = DTYPES[dtype], formula == "central"
    at, step = of(x), of(h)
    up, down = np.exp(at + step), np.exp(at - step if central else at)
    gap = float(up) - float(down)
    return Run(up, down, gap, gap / ((1 + central) * float(step)))


def round_off_unit(dtype: str) -> float:
    """Half the gap between 1 and the next number."""
    return float(np.finfo(DTYPES[dtype]).eps / 2)


def truncation(h: float, formula: str) -> float:
    """The next term of Taylor's series: h / 2 one-sided, h² / 6 central."""
    return h**2 / 6 if formula == "central" else h / 2


def round_off(dtype: str, h: float, formula: str) -> float:
    """An upper bound on the effect of rounding, if each value is off by the unit u: 2u / h one-sided, u / h central."""
    return round_off_unit(dtype) * (1 if formula == "central" else 2) / h


def best_step(dtype: str, formula: str) -> float:
    """The step that minimizes the sum of truncation and round-off."""
    u = round_off_unit(dtype)
    return float((3 * u) ** (1 / 3) if formula == "central" else 2 * u**0.5)


def same(dtype: str, h: float, formula: str) -> int:
    """The number of points at which the two values are the same float, so that the slope is 0."""
    x = np.random.default_rng(0).uniform(0.5, 1, size=POINTS).astype(DTYPES[dtype])
    return int((difference(x, DTYPES[dtype](h), formula) == 0).sum())


def verdict(dtype: str, h: float, formula: str) -> str:
    """The part that is more than three times the other: "truncation", "round-off" or "neither"."""
    one, other = truncation(h, formula), round_off(dtype, h, formula)
    return "truncation" if one > 3 * other else "round-off" if other > 3 * one else "neither"
