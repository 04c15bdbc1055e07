"""Scenarios of gradient_through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _build, _in_states


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
