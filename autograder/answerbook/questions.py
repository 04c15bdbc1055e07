"""How a question to the reference is recognised: exactly, or, on another machine, as the nearest one.

Visible inputs are drawn alike everywhere, but what a check computes of them may differ in the last bits between builds
of NumPy. So a question that is not in the book to the bit is looked for by its sketch: same function, same types,
shapes and texts, and the nearest numbers, where these are as near as rounding brings them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.diagnosis.sketches import directions, taken_apart

NEAR = 1e-6
"""Relative to the size of the numbers: what single precision loses, and a few operations more."""


@dataclass(frozen=True)
class Question:
    """What is asked of the reference, so far as the book keeps it."""

    structure: str
    exact: str
    sketch: tuple[float, float, float]
    """Products with two fixed vectors, and the size."""

    def distance(self, other: Question) -> float:
        """How far the numbers of two questions lie apart, relative to their size; below `NEAR` they are the same."""
        size = max(self.sketch[2], other.sketch[2]) or 1.0
        apart = max(abs(a - b) for a, b in zip(self.sketch, other.sketch, strict=True))
        return apart / size


def question(key: list[Any]) -> Question:
    """The question of a name and its arguments."""
    structure, vectors = taken_apart(key, typed=True)
    v = np.concatenate(vectors)
    exact = hashlib.sha256(v.tobytes()).hexdigest()[:12]
    first, second = (float(w @ v) for w in directions(len(v)))
    return Question(structure, exact, (first, second, float(np.sqrt(v @ v))))
