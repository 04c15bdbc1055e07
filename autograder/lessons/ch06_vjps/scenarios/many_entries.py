"""Scenarios of arrays with many entries."""

from __future__ import annotations

from typing import Any

import numpy as np

_MATRICES: list[tuple[int, ...]] = [(160, 190)] * 3
_SHAPES: dict[str, list[tuple[int, ...]]] = {
    "add_vjp": _MATRICES,
    "mul_vjp": _MATRICES,
    "matmul_vjp": [(80, 100), (80, 115), (115, 100)],
    "sum_vjp": [(30_000,), (2, 30_000)],
    "max_vjp": [(600,), (45, 600)],
    "relu_vjp": _MATRICES[:2],
    "sigmoid_vjp": [(120, 80)] * 2,
    "tanh_vjp": [(120, 80)] * 2,
    "softmax_vjp": [(640, 25)] * 2,
    "logsumexp_vjp": [(640,), (640, 25)],
    "cross_entropy_vjp": [(), (640, 25)],
    "layernorm_vjp": [(700, 25), (700, 25), (25,), (25,)],
    "rmsnorm_vjp": [(800, 25), (800, 25), (25,)],
    "batchnorm_vjp": [(40, 440), (40, 440), (440,), (440,)],
    "embedding_vjp": [(1_400, 20), (1_800, 20)],
    "conv2d_vjp": [(1, 4, 42, 42), (1, 4, 44, 44), (4, 4, 3, 3), (4,)],
    "maxpool2d_vjp": [(2, 4, 26, 26), (2, 4, 52, 52)],
    "attention_vjp": [(115, 32)] * 4,
}
"""Shapes of g and of the inputs, in order."""


def _many_entries(name: str, seed: int) -> list[Any]:
    """The arguments of the rule `name`: g, the inputs and any others."""
    rng = np.random.default_rng(seed)
    arrays: list[Any] = [rng.uniform(-1, 1, shape) for shape in _SHAPES[name]]
    others: dict[str, list[Any]] = {
        "sum_vjp": [0],
        "max_vjp": [0],
        "maxpool2d_vjp": [2],
        "cross_entropy_vjp": [rng.integers(25, size=640)],
        "embedding_vjp": [rng.permutation(1_800)[:1_400]],
    }
    return arrays + others.get(name, [])


def entries(submission: Any, name: str, seed: int, places: list[Any]) -> Any:
    """Entries of the gradients that the rule `name` returns, at these flat indices, one array per gradient.

    Only the reference is asked this way, so that an answer book has a few numbers instead of whole gradients.
    """
    gradients = getattr(submission, name)(*_many_entries(name, seed))
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    return tuple(gradient.ravel()[place] for gradient, place in zip(gradients, places, strict=True))
