"""Scenarios of zero_grad."""

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


def zeroed(submission: Any, graph: str, output: str, grad_before: str, times: int) -> dict[str, Any]:
    """`.grad` of each node after `zero_grad(output)`, None as 0; `grad_before` is set before each of the `times`."""
    nodes = _build(graph)
    structure = _structure(nodes)
    for _ in range(times):
        _set_grads(nodes, grad_before)
        _call(submission.zero_grad, nodes[output])
    _require_same(structure, _structure(nodes), "zero_grad")
    return {f"{name}.grad": _zero_for_none(getattr(node, "grad", "deleted")) for name, node in nodes.items()}


def chain_zeroed(submission: Any, factors: np.ndarray) -> np.ndarray:
    """`.grad` along a chain, every one 1 before `zero_grad` of its end; None as 0."""
    with _no_collection():
        nodes = _chain(factors)
        for node in nodes:
            node.grad = 1.0
        _call(submission.zero_grad, nodes[-1])
        return np.nan_to_num(_grads(nodes))


def ladder_zeroed(submission: Any, weights: np.ndarray) -> np.ndarray:
    """`.grad` of the nodes of a ladder, every one 1 before `zero_grad` of its top; None as 0."""
    nodes = _ladder(weights)
    for node in nodes:
        node.grad = 1.0
    _call(submission.zero_grad, nodes[-1])
    return np.nan_to_num(_grads(nodes))


def _zero_for_none(grad: Any) -> Any:
    return 0.0 if grad is None else grad
