"""Three estimators of the gradient of E f(x) with respect to the mean of a normal x.

With x = μ + σ ε, the score-function estimate is (f(x) - b) ε / σ, and the pathwise one f'(x). `Case.exact` gives their
means and variances in closed form. The widget `estimators` computes the same in a page, from the same noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CLOUD = 200
"""The number of estimates in a cloud."""


class Exact(NamedTuple):
    """The gradient, E f, E f ε² (`once`), E f² ε² (`twice`), and the pathwise estimate's mean and variance."""

    gradient: float
    mean: float
    once: float
    twice: float
    path_mean: float
    path_variance: float

    def score_variance(self, sigma: float, baseline: float = 0.0) -> float:
        """The variance of one score-function estimate; it is smallest for the baseline `once`."""
        spread = self.twice - 2 * baseline * self.once + baseline**2
        return spread / sigma**2 - self.gradient**2


@dataclass(frozen=True)
class Case:
    """A function, its derivative (0 where it has none), and its exact moments, given μ and σ."""

    words: str
    f: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    exact: Callable[[float, float], Exact]


def _square(mu: float, sigma: float) -> Exact:
    once, twice = mu**2 + 3 * sigma**2, mu**4 + 18 * mu**2 * sigma**2 + 15 * sigma**4
    return Exact(2 * mu, mu**2 + sigma**2, once, twice, 2 * mu, 4 * sigma**2)


def _sine(k: float) -> Callable[[float, float], Exact]:
    def moments(mu: float, sigma: float) -> Exact:
        v = (k * sigma) ** 2
        gradient = k * math.cos(k * mu) * math.exp(-v / 2)
        mean = math.sin(k * mu) * math.exp(-v / 2)
        twice = (1 - math.cos(2 * k * mu) * (1 - 4 * v) * math.exp(-2 * v)) / 2
        path = k**2 * (1 + math.cos(2 * k * mu) * math.exp(-2 * v)) / 2 - gradient**2
        return Exact(gradient, mean, mean * (1 - v), twice, gradient, path)

    return moments


def _step(mu: float, sigma: float) -> Exact:
    a = mu / sigma
    density, below = math.exp(-(a**2) / 2) / math.sqrt(2 * math.pi), (1 + math.erf(a / math.sqrt(2))) / 2
    return Exact(density / sigma, below, below - a * density, below - a * density, 0.0, 0.0)


CASES: Mapping[str, Case] = {
    "square": Case("x²", np.square, lambda x: 2 * x, _square),
    "sin": Case("sin x", np.sin, np.cos, _sine(1)),
    "sin10": Case("sin 10x", lambda x: np.sin(10 * x), lambda x: 10 * np.cos(10 * x), _sine(10)),
    "step": Case("1 if x > 0, else 0", lambda x: (x > 0).astype(float), np.zeros_like, _step),
}


def noise(draw: int, n: int) -> Array:
    """`n` standard normal numbers, seeded by `draw`: the Box–Muller transform of mulberry32, as in the widget."""
    with np.errstate(over="ignore"):
        a = np.uint32(draw) + np.arange(1, 2 * n + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
        t = (a ^ (a >> np.uint32(15))) * (a | np.uint32(1))
        t = (t + (t ^ (t >> np.uint32(7))) * (t | np.uint32(61))) ^ t
    u = (t ^ (t >> np.uint32(14))).astype(np.float64) / 2**32
    return np.sqrt(-2 * np.log1p(-u[::2])) * np.cos(2 * math.pi * u[1::2])


def clouds(case: str, mu: float, sigma: float, baseline: float, n: int, draw: int) -> dict[str, Array]:
    """`CLOUD` estimates by each of the three estimators, each the mean of `n` samples, from the same noise."""
    of, eps = CASES[case], noise(draw, CLOUD * n)
    x = mu + sigma * eps
    single = {
        "score": of.f(x) * eps / sigma,
        "baseline": (of.f(x) - baseline) * eps / sigma,
        "path": of.slope(x),
    }
    return {name: estimates.reshape(CLOUD, n).mean(axis=1) for name, estimates in single.items()}
