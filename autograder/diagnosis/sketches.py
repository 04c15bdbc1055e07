"""Values in a few numbers: enough to recognise them within a tolerance, too few to read them.

All numbers of a value, in order, are one vector v; kept are its products with two fixed vectors w, or those of each of
its parts where values are held against each other loosely. Of two values that agree entry by entry within
`atol + rtol |v_i|`, the products differ by at most the sum of `|w_i| (atol + rtol |v_i|)`: so values that are the same
are always found the same, and others pass for the same by chance alone. What is no number (types, shapes, texts) has to
be equal.
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
"""What stands for the numbers that no sum survives."""
LOOSE = 1e-3
"""From this relative tolerance on, two numbers let too much pass for the same: a vector is kept in parts."""
LOOSE_PARTS = 8
LARGEST = 1e150
"""Larger numbers count as that: their sums and squares would be no numbers."""
ROUNDING = 1e-12
"""Relative: what adding up in another order changes."""
Tolerance = tuple[float, float]
"""`rtol, atol`."""


@dataclass(frozen=True)
class Sketch:
    """Some values, so far as they are kept."""

    structure: str
    products: tuple[float, ...]
    """Two for each part of the vector."""

    def fits(self, values: Sequence[Any], tolerances: Sequence[Tolerance]) -> bool:
        """Whether these values, each within its tolerance, may be the ones that the sketch was made of."""
        structure, vectors = taken_apart(values)
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
            for (w, v, slack), product in zip(_directed(parts, v, slack), self.products, strict=True)
        )


def sketch_of(values: Sequence[Any], tolerances: Sequence[Tolerance]) -> Sketch:
    """The sketch of some values, which others are held against within these tolerances."""
    structure, vectors = taken_apart(values)
    v = np.concatenate([*vectors, np.zeros(0)])
    parts = LOOSE_PARTS if any(rtol >= LOOSE for rtol, _ in tolerances) else 1
    return Sketch(structure, tuple(float(w @ part) for w, part in _directed(parts, v)))


def _directed(parts: int, *vectors: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """For each part of the vectors and each of the two directions, that direction and the parts."""
    for of_one in zip(*(np.array_split(vector, parts) for vector in vectors), strict=True):
        for w in directions(len(of_one[0])):
            yield w, *of_one


def taken_apart(values: Iterable[Any], *, typed: bool = False) -> tuple[str, list[np.ndarray]]:
    """What has to be equal, as a short text, and the numbers of each value as float64.

    A list counts as a tuple and 5 as 5.0, as where checks compare; not if `typed`, where only the sizes of whole
    numbers' dtypes do not count, which depend on the machine.
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
    """Two fixed vectors without a pattern that values have: the fractional parts of k·φ and of k²·√2, shifted."""
    k = np.arange(1, size + 1, dtype=np.float64)
    return (k * 0.6180339887498949) % 1.0 + 0.5, (k * k * 0.41421356237309515) % 1.0 - 1.5
