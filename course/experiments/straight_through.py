"""Descent through a quantizer with three backward rules: the true slope, straight-through, clipped straight-through.

The loss is (q(w) - target)², and each step is w - rate · 2 (q(w) - target) · slope. The widget `straight_through`
computes the same in a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

BACKWARDS = ("true", "straight", "clipped")
"""Backward rules, which use the slope 0, the slope 1, and the slope 1 within the quantizer's range, else 0."""
RECENT = 20
"""The number of latest steps in which `verdict` looks for jumps."""


@dataclass(frozen=True)
class Quantizer:
    """A quantizer in words and code, its levels, and the largest |w| at which `clipped` passes g on."""

    words: str
    forward: Callable[[float], float]
    levels: tuple[float, ...]
    limit: float


def _sign(w: float) -> float:
    return float((w > 0) - (w < 0))


QUANTIZERS: Mapping[str, Quantizer] = {
    "round": Quantizer("round, −2 to 2", lambda w: float(round(min(2.0, max(-2.0, w)))), (-2, -1, 0, 1, 2), 2.0),
    "sign": Quantizer("sign", _sign, (-1, 1), 1.0),
}
"""`round` rounds halves to even, as PyTorch does; the sign of 0 is 0."""


class Point(NamedTuple):
    """One step of a descent, before the update: weight, quantized value, loss, backward's slope, and gradient."""

    w: float
    q: float
    loss: float
    slope: float
    gradient: float


def descend(name: str, backward: str, w: float, target: float, rate: float, steps: int) -> list[Point]:
    """The `steps` + 1 points of a descent from `w` with this quantizer and one of `BACKWARDS`."""
    of, points = QUANTIZERS[name], []
    for _ in range(steps + 1):
        q = of.forward(w)
        slope = {"true": 0.0, "straight": 1.0, "clipped": float(abs(w) <= of.limit)}[backward]
        gradient = 2 * (q - target) * slope
        points.append(Point(w, q, (q - target) ** 2, slope, gradient))
        w = w - rate * gradient
    return points


def verdict(name: str, points: list[Point]) -> str:
    """The state of a descent: "arrived", "stuck", "runs", "jumps" or "on its way"."""
    last = points[-1]
    if not last.gradient:
        return "arrived" if math.isclose(last.loss, 0, abs_tol=1e-12) else "stuck"
    if abs(last.w) > QUANTIZERS[name].limit and last.w * last.gradient < 0:
        return "runs"
    recent = [point.q for point in points[-RECENT:]]
    back = any(a != b and b != c and a == c for a, b, c in _changes(recent))
    return "jumps" if back else "on its way"


def _changes(values: list[float]) -> list[tuple[float, float, float]]:
    kept = [value for i, value in enumerate(values) if not i or value != values[i - 1]]
    return list(zip(kept, kept[1:], kept[2:], strict=False))


def best(name: str, target: float) -> tuple[float, float]:
    """The level nearest to the target, and its loss, which no weight can beat."""
    level = min(QUANTIZERS[name].levels, key=lambda one: abs(one - target))
    return float(level), (level - target) ** 2
