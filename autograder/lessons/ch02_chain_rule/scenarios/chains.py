"""Matrices that only multiply vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

ALLOWED = "W @ v, v @ W and W.dot(v), or the same with W.T, for a v with one axis"

Multiply = Callable[[int, np.ndarray, bool], np.ndarray]
"""Asks the judge for a product: number of the matrix, vector, and whether the vector is on the left."""

OF_SHAPE_ALONE = (np.shape, np.ndim, np.size, np.empty_like, np.zeros_like, np.ones_like, np.full_like)


class VectorsOnly:
    """A matrix that only multiplies single vectors and tells its shape, and explains why it refuses anything else.

    Its entries, float64, are in the judge's process, which computes and counts the products.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, shape: tuple[int, int], times: Callable[[np.ndarray, bool], np.ndarray]) -> None:
        self.shape = shape
        self.size = shape[0] * shape[1]
        self._times = times

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> VectorsOnly:
        return VectorsOnly(self.shape[::-1], lambda v, from_the_left: self._times(v, not from_the_left))

    def __matmul__(self, v: Any) -> np.ndarray:
        return self._times(_vector(v), False).view(Vector)

    def __rmatmul__(self, v: Any) -> np.ndarray:
        return self._times(_vector(v), True).view(Vector)

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
        if function in OF_SHAPE_ALONE:
            named = {name: _like(value) if name in ("a", "prototype") else value for name, value in options.items()}
            return function(*map(_like, operands[:1]), *operands[1:], **named)
        raise RuntimeError(f"np.{function.__name__} of a matrix: this one allows {ALLOWED}.")

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise RuntimeError(f"This matrix cannot be read as an array: it allows {ALLOWED}. For v.dot(W) write v @ W.")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"This matrix has no {name}: it allows {ALLOWED}.")


class Vector(np.ndarray):
    """A vector whose `dot` takes such matrices; the method of a plain array asks them for nothing but `__array__`."""

    def dot(self, b: Any, out: Any = None) -> Any:
        return self @ b if isinstance(b, VectorsOnly) and out is None else super().dot(b, out)


def _like(W: Any) -> Any:
    """An array of this matrix's shape and dtype, with any entries; anything else as it is."""
    return np.empty(W.shape, W.dtype) if isinstance(W, VectorsOnly) else W


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
    return getattr(submission, function)(_vectors_only(shapes, multiply), vector.view(Vector))


def weights_one_vector_at_a_time(
    submission: Any, shapes: list[tuple[int, int]], multiply: Multiply, x: np.ndarray, u: np.ndarray
) -> Any:
    """What `weight_gradients` returns for such matrices."""
    return submission.weight_gradients(_vectors_only(shapes, multiply), x.view(Vector), u.view(Vector))


def _vectors_only(shapes: list[tuple[int, int]], multiply: Multiply) -> list[VectorsOnly]:
    return [VectorsOnly(shape, partial(multiply, number)) for number, shape in enumerate(shapes)]
