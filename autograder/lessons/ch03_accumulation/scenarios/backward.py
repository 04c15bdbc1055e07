"""Scenarios of backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.lessons.ch03_accumulation.scenarios.graphs import (
    _build,
    _call,
    _chain,
    _grads,
    _ladder,
    _no_collection,
    _require_same,
    _set_grads,
    _structure,
)


def gradients(submission: Any, graph: str, outputs: list[str], grad_before: str) -> dict[str, Any]:
    """`.grad` of each node after `backward` of each of the `outputs` in turn; `grad_before` has its first values."""
    nodes = _build(graph)
    _set_grads(nodes, grad_before)
    structure = _structure(nodes)
    for name in outputs:
        _call(submission.backward, nodes[name])
    _require_same(structure, _structure(nodes), "backward")
    return {f"{name}.grad": getattr(node, "grad", "deleted") for name, node in nodes.items()}


def chain_gradients(submission: Any, factors: np.ndarray) -> np.ndarray:
    """`.grad` along a chain, each node made of the one before it, after `backward` of its end."""
    with _no_collection():
        nodes = _chain(factors)
        _call(submission.backward, nodes[-1])
        return _grads(nodes)


def ladder_gradients(submission: Any, weights: np.ndarray) -> np.ndarray:
    """`.grad` of the two nodes of each rung, each of them made of both nodes of the rung below."""
    nodes = _ladder(weights)
    _call(submission.backward, nodes[-1])
    return _grads(nodes)
