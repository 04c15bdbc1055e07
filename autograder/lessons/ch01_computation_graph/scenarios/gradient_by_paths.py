"""Scenarios of gradient_by_paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _build, _in_states


def gradient_by_paths(submission: Any, graph: str, local_gradients: np.ndarray, leaf: str) -> Any:
    """What `gradient_by_paths` returns for the output and the node called `leaf`."""
    nodes, output = _build(graph, local_gradients.tolist())
    return submission.gradient_by_paths(output, nodes[leaf])


def gradient_by_paths_in_states(
    submission: Any, graph: str, local_gradients: np.ndarray, leaf: str, states: Mapping[str, str]
) -> Any:
    """Like `gradient_by_paths`, with nodes in these states."""
    nodes, output = _in_states(graph, local_gradients.tolist(), states)
    return submission.gradient_by_paths(output, nodes[leaf])
