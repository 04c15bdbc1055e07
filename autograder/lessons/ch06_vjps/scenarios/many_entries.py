"""Scenarios of arrays with many entries."""

from __future__ import annotations

from typing import Any

import numpy as np

_SHAPES: dict[str, list[tuple[int, ...]]] = {
    "add_vjp": [(300, 330)] * 3,
    "mul_vjp": [(220, 250)] * 3,
    "matmul_vjp": [(10, 11), (10, 5_500), (5_500, 11)],
    "sum_vjp": [(60_000,), (2, 60_000)],
    "max_vjp": [(42_000,), (3, 42_000)],
    "relu_vjp": [(250, 330)] * 2,
    "sigmoid_vjp": [(270, 200)] * 2,
    "tanh_vjp": [(270, 200)] * 2,
    "softmax_vjp": [(1_300, 25)] * 2,
    "logsumexp_vjp": [(2_000,), (2_000, 25)],
    "cross_entropy_vjp": [(), (1_200, 25)],
    "layernorm_vjp": [(1_400, 25), (1_400, 25), (25,), (25,)],
    "rmsnorm_vjp": [(1_600, 25), (1_600, 25), (25,)],
    "batchnorm_vjp": [(60, 800), (60, 800), (800,), (800,)],
    "embedding_vjp": [(3_000, 20), (4_000, 20)],
    "conv2d_vjp": [(1, 4, 54, 54), (1, 4, 56, 56), (4, 4, 3, 3), (4,)],
    "maxpool2d_vjp": [(2, 4, 40, 40), (2, 4, 80, 80)],
    "attention_vjp": [(180, 32)] * 4,
    "running_mean_vjp": [(1_200, 25)] * 2,
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
        "cross_entropy_vjp": [rng.integers(25, size=1_200)],
        "embedding_vjp": [rng.permutation(4_000)[:3_000]],
    }
    return arrays + others.get(name, [])


_KEPT: dict[str, list[np.ndarray]] = {}
"""The gradients of each rule's last call, until `entries` takes some of them."""


def shapes(submission: Any, name: str, seed: int) -> list[Any]:
    """The shapes of the gradients that the rule `name` returns for large arrays, which are kept for `entries`.

    The arrays are made here and the gradients stay here: to send them would cost a class more than the rules do. Which
    entries are looked at is not in this process while the rule runs.

    Args:
        seed: of the arrays.

    Returns:
        One shape for each gradient; the name of its type instead if it is not an array.
    """
    _KEPT.pop(name, None)
    arguments = _many_entries(name, seed)
    inputs = [x.shape for x in arguments[1:] if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    got = getattr(submission, name)(*arguments)
    kind = next((kind for kind in (tuple, list) if isinstance(got, kind)), None)
    gradients = [got] if kind is None else list(kind.__iter__(got))
    # a plain array has all its entries: one of a class of its own could compute those that are looked at
    found = [x.shape if type(x) is np.ndarray else type(x).__name__[:80] for x in gradients]
    if found == inputs:
        _KEPT[name] = [x.copy() for x in gradients]
    return found


def entries(submission: Any, name: str, places: list[Any]) -> list[Any]:
    """The entries at these flat indices of each gradient that `shapes` has kept; none if it has kept none."""
    kept = _KEPT.pop(name, [])
    return [x.ravel()[place] for x, place in zip(kept, places, strict=True)] if kept else []
