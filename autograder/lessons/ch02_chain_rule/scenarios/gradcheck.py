"""Scenarios of gradcheck."""

from __future__ import annotations

from typing import Any

import numpy as np


def gradcheck(
    submission: Any, function: str, arguments: tuple[Any, ...], vjp: Any, inputs: tuple[np.ndarray, ...], seed: int
) -> Any:
    """The verdict of `gradcheck` on a VJP of one of `FUNCTIONS`, with a generator made from a seed.

    The function runs in this process, because a checker calls it twice for each entry and it is not secret. The VJP is
    a call-back to the judge, so nothing here reveals whether it is right.
    """
    compute, shapes = FUNCTIONS[function], [x.shape for x in inputs]

    def f(*given: Any) -> np.ndarray:
        return np.array(compute(*taken(given, shapes), *arguments), dtype=np.float64)

    return submission.gradcheck(f, vjp, inputs, np.random.default_rng(seed))


def taken(arrays: tuple[Any, ...], shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """The arguments of f or vjp as float64 arrays. Raises `ValueError` for other shapes and non-finite numbers."""
    if [np.shape(array) for array in arrays] != shapes or any(np.iscomplexobj(array) for array in arrays):
        raise ValueError("f takes arrays of the shapes of inputs, and vjp before them a g of the shape of f's result")
    found = [np.asarray(array, dtype=np.float64) + 0.0 for array in arrays]
    if not all(np.isfinite(array).all() for array in found):  # the spread of nan would reveal how a VJP is computed
        raise ValueError("f and vjp take finite numbers")
    return found


# The functions whose VJPs are checked. Each also accepts complex inputs, for exact VJPs by complex steps.


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


def running_mean(x: Any, axis: int) -> Any:
    counts = np.arange(1, x.shape[axis] + 1)
    return np.moveaxis(np.cumsum(np.moveaxis(x, axis, -1), axis=-1) / counts, -1, axis)


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
        *(
            relu,
            sigmoid,
            tanh,
            running_mean,
            total,
            maximum,
            softmax,
            sum_of_softmax,
            logsumexp,
            cross_entropy,
            matmul,
            rows,
        ),
        *(layernorm, rmsnorm, batchnorm, convolution, pooling, attention),
    )
}
"""Functions by the names that checks use."""
