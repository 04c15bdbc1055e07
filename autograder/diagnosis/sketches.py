"""Sketches of values: a few numbers that recognise a value within a tolerance but do not reveal it.

All numbers of a value, in order, form a vector v. The sketch keeps its dot products with two fixed vectors w; for loose
tolerances it keeps those of each part of v. If two values agree entry by entry within `atol + rtol |v_i|`, their
products differ by at most the sum of `|w_i| (atol + rtol |v_i|)`. So equal values always match, and different values
match only by chance. Everything else (types, shapes, texts) has to be equal.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from autograder.values import summarise

NO_NUMBER = {"nan": 0.6180339887, "inf": 1.3247179572, "-inf": -1.4655712319}
"""Stand-ins for numbers that would make every sum nan or inf."""
LOOSE = 1e-3
"""From this relative tolerance on, two products would match too many values, so a vector is split into parts."""
LOOSE_PARTS = 8
LARGEST = 1e150
"""Larger numbers are clipped to this, since their sums and squares would overflow."""
ROUNDING = 1e-12
"""Relative rounding error of summing in another order."""
Tolerance = tuple[float, float]
"""`rtol, atol`."""


@dataclass(frozen=True)
class Sketch:
    """A sketch of some values."""

    structure: str
    products: tuple[float, ...]
    """Two for each part of the vector."""

    def fits(self, values: Sequence[Any], tolerances: Sequence[Tolerance]) -> bool:
        """Whether these values, each within its tolerance, could be the sketched ones."""
        structure, vectors = structure_and_numbers(values)
        if structure != self.structure:
            return False
        v = np.concatenate([*vectors, np.zeros(0)])
        allowed = [
            np.full(len(vector), atol) + rtol * np.abs(vector)
            for vector, (rtol, atol) in zip(vectors, tolerances, strict=True)
        ]
        slack = np.concatenate([*allowed, np.zeros(0)]) + ROUNDING * np.abs(v)
        parts = len(self.products) // 2
        return all(
            abs(float(w @ v) - product) <= float(np.abs(w) @ slack) * 2
            for (w, v, slack), product in zip(_parts_with_directions(parts, v, slack), self.products, strict=True)
        )


def sketch_of(values: Sequence[Any], tolerances: Sequence[Tolerance]) -> Sketch:
    """Sketch some values, to be compared with others within these tolerances."""
    structure, vectors = structure_and_numbers(values)
    v = np.concatenate([*vectors, np.zeros(0)])
    parts = LOOSE_PARTS if any(rtol >= LOOSE for rtol, _ in tolerances) else 1
    return Sketch(structure, tuple(float(w @ part) for w, part in _parts_with_directions(parts, v)))


def _parts_with_directions(parts: int, *vectors: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """For each part of the vectors and each of the two directions: the direction and the parts."""
    for of_one in zip(*(np.array_split(vector, parts) for vector in vectors), strict=True):
        for w in directions(len(of_one[0])):
            yield w, *of_one


def structure_and_numbers(values: Iterable[Any], *, typed: bool = False) -> tuple[str, list[np.ndarray]]:
    """A hash of what must be equal exactly, and the numbers of each value as a float64 vector.

    A list counts as a tuple and 5 as 5.0, as in checks. With `typed` they differ, except for the sizes of integer
    dtypes, which depend on the machine.
    """
    words: list[str] = []
    vectors = []
    for value in values:
        found: list[np.ndarray] = []
        _walk(value, words, found, typed)
        vectors.append(np.concatenate([*found, np.zeros(0)]))
    return hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()[:12], vectors


def _walk(value: Any, words: list[str], found: list[np.ndarray], typed: bool) -> None:
    if typed:
        words.append(_type_of(value))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = (value.float() if value.dtype is torch.bfloat16 else value).numpy(force=True)
    if isinstance(value, str | bytes | type(None)):
        words.append(repr(value))
    elif isinstance(value, bool | int | float | complex | np.ndarray | np.generic):
        if isinstance(value, int) and abs(value) >= 2**53:
            words.append(str(value))
            return
        array = np.asarray(value)
        words.append(f"array {array.shape}")
        if array.dtype.kind in "biufc":
            found.append(_finite(array))
        else:
            words.append(repr(array.tolist()))
    elif isinstance(value, tuple | list):
        words.append(f"({len(value)}")
        for item in value:
            _walk(item, words, found, typed)
    elif isinstance(value, dict):
        words.append(f"{{{len(value)}")
        for key in sorted(value, key=repr):
            words.append(repr(key))
            _walk(value[key], words, found, typed)
    else:
        words.append(summarise(value))


def _type_of(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype):
        return f"{type(value).__name__} {dtype.kind if dtype.kind in 'iu' else dtype.str}"
    return f"{type(value).__name__} {dtype or ''}"


def _finite(array: np.ndarray) -> np.ndarray:
    flat = array.reshape(-1)
    if flat.dtype.kind == "c":
        flat = np.concatenate([flat.real, flat.imag])
    flat = flat.astype(np.float64)
    if not np.isfinite(flat).all():
        flat = np.where(np.isnan(flat), NO_NUMBER["nan"], flat)
        flat = np.where(flat == np.inf, NO_NUMBER["inf"], flat)
        flat = np.where(flat == -np.inf, NO_NUMBER["-inf"], flat)
    return np.clip(flat, -LARGEST, LARGEST)


@lru_cache(maxsize=256)
def directions(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Two fixed vectors without any pattern that values have: the fractional parts of k·φ and of k²·√2, shifted."""
    k = np.arange(1, size + 1, dtype=np.float64)
    return (k * 0.6180339887498949) % 1.0 + 0.5, (k * k * 0.41421356237309515) % 1.0 - 1.5
