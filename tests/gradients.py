"""Arrays and gradients for tests of diagnoses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.diagnosis.relations import explain

Array = np.ndarray
TOLERANCE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def said(
    got: Any,
    expected: Any,
    name: str = "dx",
    inputs: dict[str, Any] | None = None,
    with_unit_g: Callable[[], Any] | None = None,
) -> list[str]:
    arrays = np.asarray(got), np.asarray(expected)
    return explain(*arrays, name=name, inputs=inputs, with_unit_g=with_unit_g, **TOLERANCE)


# Operands of some VJPs, and the correct answers.
A, B, G = normal(4, 3), normal(3, 5), normal(4, 5)
MATMUL = {"g": G, "A": A, "B": B}
DA, DB = G @ B.T, A.T @ G


M = normal(6, 4)
