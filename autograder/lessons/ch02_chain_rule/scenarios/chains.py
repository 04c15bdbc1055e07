"""Matrices that only multiply vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

ALLOWED = "W @ v, v @ W and W.dot(v), or the same with W.T, for a v with one axis"


class VectorsOnly:
    """A matrix that multiplies one vector at a time, counts how often, and refuses all else in words."""

    def __init__(self, array: np.ndarray, uses: list[int]) -> None:
        self._array = array
        self._uses = uses

    @property
    def T(self) -> VectorsOnly:
        return VectorsOnly(self._array.T, self._uses)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    def __matmul__(self, v: Any) -> np.ndarray:
        v = _vector(v)
        self._uses.append(1)
        return self._array @ v

    def __rmatmul__(self, v: Any) -> np.ndarray:
        v = _vector(v)
        self._uses.append(1)
        return v @ self._array

    def dot(self, v: Any) -> np.ndarray:
        return self @ v

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> np.ndarray:
        """NumPy asks here whatever stands on the left: `v @ W` is allowed, `v * W` is not."""
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


def jvp_chain_one_vector_at_a_time(submission: Any, Ws: list[np.ndarray], v: np.ndarray) -> dict[str, Any]:
    """What `jvp_chain` returns for matrices that only multiply vectors, and how many products it took."""
    uses: list[int] = []
    result = submission.jvp_chain([VectorsOnly(W, uses) for W in Ws], v)
    return {"result": result, "products": len(uses)}


def vjp_chain_one_vector_at_a_time(submission: Any, Ws: list[np.ndarray], u: np.ndarray) -> dict[str, Any]:
    """What `vjp_chain` returns for matrices that only multiply vectors, and how many products it took."""
    uses: list[int] = []
    result = submission.vjp_chain([VectorsOnly(W, uses) for W in Ws], u)
    return {"result": result, "products": len(uses)}
