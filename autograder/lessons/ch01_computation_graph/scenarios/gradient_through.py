"""Scenarios of gradient_through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _build, _in_states
from course.graph import Node


def gradient_through(submission: Any, graph: str, local_gradients: np.ndarray, node: str, leaf: str) -> Any:
    """What `gradient_through` returns for the output and the nodes of these names."""
    nodes, output = _build(graph, local_gradients.tolist())
    return submission.gradient_through(output, nodes[node], nodes[leaf])


def gradient_through_in_states(
    submission: Any, graph: str, local_gradients: np.ndarray, node: str, leaf: str, states: Mapping[str, str]
) -> Any:
    """Like `gradient_through`, with nodes in these states."""
    nodes, output = _in_states(graph, local_gradients.tolist(), states)
    return submission.gradient_through(output, nodes[node], nodes[leaf])


def changed_by_gradient_through(submission: Any, graph: str, node: str, leaf: str) -> list[str]:
    """The attributes of nodes that a call changed or set."""
    nodes, output = _build(graph)
    before = {name: dict(vars(one)) for name, one in nodes.items()}
    submission.gradient_through(output, nodes[node], nodes[leaf])
    return sorted({key for name, one in nodes.items() for key in _other(before[name], one)})


def _other(before: dict[str, Any], node: Node) -> set[str]:
    now = vars(node)
    return {key for key in {*now, *before} if key not in now or key not in before or now[key] is not before[key]}
