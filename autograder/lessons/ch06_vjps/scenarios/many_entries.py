"""Scenarios of arrays with many entries."""

from __future__ import annotations

from typing import Any

import numpy as np

_MATRICES: list[tuple[int, ...]] = [(160, 190)] * 3
_SHAPES: dict[str, list[tuple[int, ...]]] = {
    "add_vjp": _MATRICES,
    "mul_vjp": _MATRICES,
    "matmul_vjp": [(100, 120), (100, 140), (140, 120)],
    "sum_vjp": [(30_000,), (2, 30_000)],
    "max_vjp": [(900,), (45, 900)],
    "relu_vjp": _MATRICES[:2],
    "sigmoid_vjp": [(150, 90)] * 2,
    "tanh_vjp": [(150, 90)] * 2,
    "softmax_vjp": [(220, 100)] * 2,
    "logsumexp_vjp": [(220,), (220, 100)],
    "cross_entropy_vjp": [(), (220, 100)],
    "layernorm_vjp": [(250, 100), (250, 100), (100,), (100,)],
    "rmsnorm_vjp": [(290, 100), (290, 100), (100,)],
    "batchnorm_vjp": [(250, 100), (250, 100), (100,), (100,)],
    "embedding_vjp": [(2_000, 20), (2_600, 20)],
    "conv2d_vjp": [(1, 4, 44, 44), (1, 4, 46, 46), (4, 4, 3, 3), (4,)],
    "maxpool2d_vjp": [(2, 4, 31, 31), (2, 4, 62, 62)],
    "attention_vjp": [(130, 32)] * 4,
}
"""Of g and of the inputs, in their order."""


def _many_entries(name: str, seed: int) -> list[Any]:
    """What the rule `name` is called with: g, the inputs, and what else it takes."""
    rng = np.random.default_rng(seed)
    arrays: list[Any] = [rng.uniform(-1, 1, shape) for shape in _SHAPES[name]]
    others: dict[str, list[Any]] = {
        "sum_vjp": [0],
        "max_vjp": [0],
        "maxpool2d_vjp": [2],
        "cross_entropy_vjp": [rng.integers(100, size=220)],
        "embedding_vjp": [rng.integers(2_600, size=2_000)],
    }
    return arrays + others.get(name, [])


def entries(submission: Any, name: str, seed: int, places: list[Any]) -> Any:
    """Some entries of the gradients that the rule `name` returns, at these flat indices, one array a gradient.

    It is asked of the reference alone: an answer book then has a few numbers instead of whole gradients.
    """
    gradients = getattr(submission, name)(*_many_entries(name, seed))
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    return tuple(gradient.ravel()[place] for gradient, place in zip(gradients, places, strict=True))
