"""Decides what counts as evidence: two arrays agree, and have enough distinct entries to rule out coincidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autograder.wording import clean

MAX_ENTRIES = 200_000
"""Larger arrays are not searched for relations: a small case shows the mistake first."""
SAMPLE = 256
RANKS = "the number of ranks"
"""The name under which the arguments have it, beside those of the call."""


@dataclass(frozen=True)
class Problem:
    """One wrong output. All arrays are float64; the shapes of `got` and `expected` may differ."""

    name: str
    got: np.ndarray
    expected: np.ndarray
    wrong: np.ndarray | None
    """Mask of entries that differ by the check's tolerance; None if the shapes differ."""
    tolerance: float
    """Relative tolerance within which two numbers count as the same, computed in two ways."""
    arguments: Mapping[str, Any]

    @cached_property
    def inputs(self) -> dict[str, np.ndarray]:
        """The array arguments: first the one whose gradient this is, then the others, last the upstream gradient."""
        arrays = {clean(name, 30): as_floats(value) for name, value in self.arguments.items()}
        own = self.name[1:] if self.name.startswith("d") else ""
        order = sorted(arrays, key=lambda name: (name == "g") - (name == own))
        return {name: array for name in order if (array := arrays[name]) is not None and array.ndim}

    @cached_property
    def integers(self) -> dict[str, int]:
        """The integer arguments, such as an axis or a stride."""
        named = {clean(name, 30): value for name, value in self.arguments.items()}
        return {name: value for name, value in named.items() if type(value) is int}

    @property
    def same_shape(self) -> bool:
        return self.wrong is not None

    def matches(self, candidate: np.ndarray) -> bool:
        """Whether `got` equals `candidate`, where `candidate` is informative and not `expected` itself."""
        return near(self.got, candidate, self.tolerance) and informative(candidate) and self.differs(candidate)

    def differs(self, candidate: np.ndarray) -> bool:
        return not near(candidate, self.expected, self.tolerance)


def as_floats(value: Any) -> np.ndarray | None:
    """A float64 copy of a real numeric array of at most `MAX_ENTRIES` entries; None for anything else."""
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in "biuf" or value.size > MAX_ENTRIES:
        return None
    return np.asarray(value).astype(np.float64)


def relative_tolerance(dtype: np.dtype, rtol: float) -> float:
    """The tolerance for a relation between arrays of `dtype`: the rounding error, even if the check allows more."""
    rounding = min(64 * float(np.finfo(dtype).eps), 1e-2) if dtype.kind == "f" else 0.0
    return min(max(rounding, 1e-9, rtol if math.isfinite(rtol) else 0.0), max(1e-5, rounding))


def near(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Whether `a` and `b` have the same shape and the same finite entries, up to rounding."""
    if a.shape != b.shape or not a.size:
        return False
    gap, size = np.abs(a - b), np.abs(b)
    if not gap.max() <= 2 * tolerance * size.max() < math.inf:  # fast path: most candidates are far off
        return False
    return bool(np.all(gap <= tolerance * (size + typical(size))))


def typical(array: np.ndarray) -> float:
    """The median magnitude of the nonzero entries, so that one huge entry does not hide the others."""
    sizes = np.abs(sample(array))
    sizes = np.sort(sizes[sizes > 0])
    return float(sizes[sizes.size // 2]) if sizes.size else 0.0


def sample(array: np.ndarray) -> np.ndarray:
    """About `SAMPLE` entries, evenly spread over all axes."""
    step = max(array.size // SAMPLE, 1)
    while math.gcd(step, array.size) > 1:
        step += 1
    return array.flat[::step]


def informative(array: np.ndarray) -> bool:
    """Whether entries in the same places cannot agree by chance: at least two differ, and all are finite.

    Zeros, a constant, a single entry and a few small integers agree with too much.
    """
    sizes = _distinct_sizes(array)
    return sizes.size >= 4 or (sizes.size >= 2 and any(map(generic, sizes.tolist())))


def telling(array: np.ndarray) -> bool:
    """Whether some number in `array` is unlikely to occur twice by chance; this says nothing about its place."""
    sizes = _distinct_sizes(array)
    return sizes.size >= 4 or any(map(generic, sizes.tolist()))


def generic(value: float) -> bool:
    """Whether `value` is neither a simple fraction nor a short decimal, such as 2, 1/3 or 0.25."""
    if not math.isfinite(value) or value == 0:
        return False
    simple = float(f"{value:.3g}")
    parts = math.frexp(value)[0] * 5040  # an integer for n/2 to n/10 with small n, times powers of 2
    return abs(simple - value) > 1e-7 * abs(value) and abs(parts - round(parts)) > 1e-3


def _distinct_sizes(array: np.ndarray) -> np.ndarray:
    if not array.size or not np.isfinite(array).all():
        return np.empty(0)
    sizes = np.abs(sample(array))
    largest = sizes.max()
    sizes = np.sort(sizes[sizes > 1e-9 * largest])
    if not sizes.size:
        return sizes
    return sizes[np.append(True, np.diff(sizes) > 1e-6 * sizes[1:])]


def adds_up(array: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Whether a sum over `axes` adds more than one nonzero entry; otherwise it only selects one."""
    return int(np.max(np.count_nonzero(array, axis=axes), initial=0)) > 1


def axis_subsets(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All sets of axes longer than 1, the smallest sets first; none if there are more than five such axes."""
    axes = [axis for axis, length in enumerate(shape) if length > 1]
    if len(axes) <= 5:
        subsets = [tuple(axis for bit, axis in enumerate(axes) if mask >> bit & 1) for mask in range(1, 2 ** len(axes))]
        yield from sorted(subsets, key=len)


def first_of(*finders: Iterator[str]) -> Iterator[str]:
    """The first sentence of the first finder that yields one, because the others would repeat it."""
    for sentences in finders:
        for sentence in sentences:
            yield sentence
            return


def multiple(got: np.ndarray, reference: np.ndarray, tolerance: float) -> float | None:
    """The constant c with `got = c * reference`; None if there is none, or if it is 0 or 1."""
    if got.shape != reference.shape or not got.size:
        return None
    peak = int(np.argmax(np.abs(reference)))
    constant = float(got.flat[peak] / reference.flat[peak]) if reference.flat[peak] else 0.0
    if not math.isfinite(constant) or abs(constant) < 1e-12 or abs(constant - 1) <= 3 * tolerance:
        return None
    return constant if near(got, constant * reference, 3 * tolerance) else None
