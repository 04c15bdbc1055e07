"""Matches questions to the reference: exactly or, on another machine, to the nearest one.

Visible inputs are drawn the same everywhere, but what a check computes from them may differ in the last bits between
builds of NumPy. So a question that is not in the book bit by bit is matched by its sketch: same function, types, shapes
and texts, and the nearest numbers, if they are within rounding errors.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.diagnosis.sketches import directions, structure_and_numbers

NEAR = 1e-6
"""Relative distance: the precision of float32, plus the error of a few operations."""


@dataclass(frozen=True)
class Question:
    """A question to the reference, reduced to what the book stores."""

    structure: str
    exact: str
    sketch: tuple[float, float, float]
    """Products with two fixed vectors, and the Euclidean norm."""

    def distance(self, other: Question) -> float:
        """Distance between two questions' numbers, relative to their norm; up to `NEAR` they are the same question."""
        size = max(self.sketch[2], other.sketch[2]) or 1.0
        apart = max(abs(a - b) for a, b in zip(self.sketch, other.sketch, strict=True))
        return apart / size


def question(key: list[Any]) -> Question:
    """The question with this key: a function's name and its arguments."""
    structure, vectors = structure_and_numbers(key, typed=True)
    v = np.concatenate(vectors)
    exact = hashlib.sha256(v.tobytes()).hexdigest()[:12]
    first, second = (float(w @ v) for w in directions(len(v)))
    return Question(structure, exact, (first, second, float(np.sqrt(v @ v))))
