"""Scenarios of ch02_chain_rule: matrices that only multiply vectors, expressions of Duals, functions to check."""

from __future__ import annotations

from types import TracebackType
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


def evaluate(submission: Any, expression: str, x: tuple[float, float], y: tuple[float, float] = (1.0, 0.0)) -> Any:
    """Value and tangent of an expression of the Duals x and y, each given as (value, tangent).

    Where it has none, a sentence that says why: under "not lifted", or under "no Dual" for any other reason.
    """
    Dual = submission.Dual
    try:
        result = eval(expression, {"Dual": Dual, "x": Dual(*x), "y": Dual(*y)})
    except NotImplementedError:
        which = expression.replace("(", "").replace(")", "")
        raise NotImplementedError(f"Dual ({which}): your code here") from None
    except (AttributeError, TypeError) as error:
        words = _in_words(expression, error)
        if words is None:
            raise
        return words
    if not hasattr(result, "value") or not hasattr(result, "tangent"):
        what = "None: a return is missing" if result is None else f"an object of type {type(result).__name__}"
        return {"no Dual": f"{expression} gave {what}. The result of an operation is a new Dual."}
    return result.value, result.tangent


def _in_words(expression: str, error: Exception) -> dict[str, str] | None:
    """What an error says about Dual where Python's words are about something else; None where they will do."""
    if isinstance(error, AttributeError) and isinstance(error.obj, int | float) and error.name in ("value", "tangent"):
        what = f"{expression}: {error.obj!r} is a plain number and has no {error.name}"
        return {"not lifted": f"{what}. Lift it: other = lift(other)."}
    if isinstance(error, TypeError) and isinstance(error.__traceback__, TracebackType):
        called = error.__traceback__.tb_next  # the expression; what follows it is the learner's
        if called is not None and called.tb_next is None:
            return {"no Dual": f"{expression} does not work: {error}. An operation is missing, or returned no Dual."}
    return None


def derivative_of(submission: Any, expression: str, x: float) -> Any:
    """What `derivative` returns for an expression in x; a number alone is a constant function."""
    result = submission.derivative(eval(f"lambda x: {expression}"), x)
    if hasattr(result, "tangent"):
        raise TypeError("derivative returned a Dual; return its tangent, a float")
    return result


def gradcheck(
    submission: Any, function: str, arguments: tuple[Any, ...], vjp: Any, inputs: tuple[np.ndarray, ...], seed: int
) -> Any:
    """What `gradcheck` says of a VJP of one of `FUNCTIONS`, with a generator made from a seed.

    The function runs here: a checker calls it for each entry twice, and nothing about it is a secret. Of the VJP nobody
    here knows whether it is right.
    """
    compute, shapes = FUNCTIONS[function], [x.shape for x in inputs]

    def f(*given: Any) -> np.ndarray:
        return np.array(compute(*taken(given, shapes), *arguments), dtype=np.float64)

    return submission.gradcheck(f, vjp, inputs, np.random.default_rng(seed))


def taken(arrays: tuple[Any, ...], shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """The arguments of f, or of vjp, as float64 arrays. `ValueError` for other shapes, and for what is no number."""
    if [np.shape(array) for array in arrays] != shapes or any(np.iscomplexobj(array) for array in arrays):
        raise ValueError("f takes arrays of the shapes of inputs, and vjp before them a g of the shape of f's result")
    found = [np.asarray(array, dtype=np.float64) + 0.0 for array in arrays]
    if not all(np.isfinite(array).all() for array in found):  # where nan goes tells how a VJP is computed
        raise ValueError("f and vjp take finite numbers")
    return found


# The functions whose VJPs are asked about. Each can be computed at complex inputs, too, which gives its exact VJP.


def add(a: Any, b: Any) -> Any:
    return a + b


def multiply(a: Any, b: Any) -> Any:
    return a * b


def multiply_and_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def power(x: Any, exponent: int, factor: float) -> Any:
    return factor * x**exponent


def square_of_the_second(x: Any, y: Any) -> Any:
    return y**2


def sine(x: Any, frequency: float) -> Any:
    return np.sin(frequency * x)


def exponential(x: Any, rate: float) -> Any:
    return np.exp(rate * x)


def relu(x: Any) -> Any:
    return np.where(x.real > 0, x, 0)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def tanh(x: Any) -> Any:
    return np.tanh(x)


def cumulative_sum(x: Any) -> Any:
    return np.cumsum(x)


def total(x: Any, axis: Any) -> Any:
    return x.sum(axis=axis)


def maximum(x: Any, axis: int) -> Any:
    return x.max(axis=axis)


def matmul(a: Any, b: Any) -> Any:
    return np.matmul(a, b)


def gram(a: Any) -> Any:
    return a @ a.T


def rows(table: Any, ids: Any) -> Any:
    return table[ids]


def sum_of_softmax(x: Any) -> Any:
    return softmax(x).sum()


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp(x: Any, axis: int) -> Any:
    return np.log(np.exp(x).sum(axis=axis))


def cross_entropy(logits: Any, targets: Any) -> Any:
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(targets)), targets].mean()


def normalized(x: Any, eps: float, axis: int = -1) -> Any:
    return x / np.sqrt((x**2).mean(axis=axis, keepdims=True) + eps)


def layernorm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    return normalized(x - x.mean(axis=-1, keepdims=True), eps) * gamma + beta


def rmsnorm(x: Any, gamma: Any, eps: float) -> Any:
    return normalized(x, eps) * gamma


def batchnorm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    return normalized(x - x.mean(axis=0), eps, axis=0) * gamma + beta


def convolution(x: Any, w: Any, b: Any, stride: int, padding: int) -> Any:
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    height, width = w.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, (height, width), axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("ncrsij,fcij->nfrs", windows, w) + b[:, None, None]


def pooling(x: Any, size: int) -> Any:
    n, c, h, w = x.shape
    rows, cols = h // size, w // size
    return x[:, :, : rows * size, : cols * size].reshape(n, c, rows, size, cols, size).max(axis=(3, 5))


def attention(q: Any, k: Any, v: Any, causal: bool) -> Any:
    weights = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    if causal:
        weights = np.tril(weights)
    return weights / weights.sum(axis=-1, keepdims=True) @ v


FUNCTIONS: dict[str, Any] = {
    function.__name__: function
    for function in (
        *(add, multiply, multiply_and_add, power, square_of_the_second, sine, exponential, cumulative_sum, gram),
        *(relu, sigmoid, tanh, total, maximum, softmax, sum_of_softmax, logsumexp, cross_entropy, matmul, rows),
        *(layernorm, rmsnorm, batchnorm, convolution, pooling, attention),
    )
}
"""By the names by which checks ask for them."""
