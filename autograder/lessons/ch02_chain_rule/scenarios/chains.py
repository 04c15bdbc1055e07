"""Matrices that only multiply vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

ALLOWED = "W @ v, v @ W and W.dot(v), or the same with W.T, for a v with one axis"

Multiply = Callable[[int, np.ndarray, bool], np.ndarray]
"""Asks the judge for a product: number of the matrix, vector, and whether the vector is on the left."""


class VectorsOnly:
    """A matrix that only multiplies single vectors, and explains why it refuses anything else.

    Its entries are in the judge's process, which computes and counts the products.
    """

    def __init__(self, shape: tuple[int, int], times: Callable[[np.ndarray, bool], np.ndarray]) -> None:
        self.shape = shape
        self._times = times

    @property
    def T(self) -> VectorsOnly:
        return VectorsOnly(self.shape[::-1], lambda v, from_the_left: self._times(v, not from_the_left))

    def __matmul__(self, v: Any) -> np.ndarray:
        return self._times(_vector(v), False)

    def __rmatmul__(self, v: Any) -> np.ndarray:
        return self._times(_vector(v), True)

    def dot(self, v: Any) -> np.ndarray:
        return self @ v

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> np.ndarray:
        """Called by NumPy if an array is on the left: `v @ W` is allowed, `v * W` is not."""
        if ufunc is np.matmul and method == "__call__" and not options:
            left, right = operands
            return left @ right if isinstance(left, VectorsOnly) else right.__rmatmul__(left)
        raise RuntimeError(f"np.{ufunc.__name__} of a matrix: this one allows {ALLOWED}.")

    def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> np.ndarray:
        if function is np.dot and len(operands) == 2 and not options:
            left, right = operands
            return left @ right if isinstance(left, VectorsOnly) else right.__rmatmul__(left)
        raise RuntimeError(f"np.{function.__name__} of a matrix: this one allows {ALLOWED}.")

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise RuntimeError(f"This matrix cannot be read as an array: it allows {ALLOWED}.")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"This matrix has no {name}: it allows {ALLOWED}.")


def _vector(v: Any) -> np.ndarray:
    """v, an array with one axis. `TypeError` for a second matrix, `ValueError` for any other shape."""
    if isinstance(v, VectorsOnly) or (np.ndim(v) == 2 and min(np.shape(v)) > 1):
        raise TypeError("A matrix times a matrix: that is the expensive way. Multiply the vector by one at a time.")
    v = np.asarray(v)
    if v.ndim != 1:
        raise ValueError(f"A matrix times an array of shape {v.shape}: the vector must have one axis, no more.")
    return v


def chain_one_vector_at_a_time(
    submission: Any, function: str, shapes: list[tuple[int, int]], multiply: Multiply, vector: np.ndarray
) -> Any:
    """What `jvp_chain` or `vjp_chain` returns for matrices of these shapes that only multiply vectors."""
    return getattr(submission, function)(_vectors_only(shapes, multiply), vector)


def weights_one_vector_at_a_time(
    submission: Any, shapes: list[tuple[int, int]], multiply: Multiply, x: np.ndarray, u: np.ndarray
) -> Any:
    """What `weight_gradients` returns for such matrices."""
    return submission.weight_gradients(_vectors_only(shapes, multiply), x, u)


def _vectors_only(shapes: list[tuple[int, int]], multiply: Multiply) -> list[VectorsOnly]:
    return [VectorsOnly(shape, partial(multiply, number)) for number, shape in enumerate(shapes)]
