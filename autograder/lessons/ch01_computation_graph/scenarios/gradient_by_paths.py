"""Scenarios of gradient_by_paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _build


def gradient_by_paths(submission: Any, graph: str, local_gradients: np.ndarray, leaf: str) -> Any:
    """What `gradient_by_paths` returns for the output and the node called `leaf`."""
    nodes, output = _build(graph, local_gradients.tolist())
    return submission.gradient_by_paths(output, nodes[leaf])


def gradient_by_paths_among_namesakes(
    submission: Any, graph: str, local_gradients: np.ndarray, leaf: str, attribute: str, common: Any
) -> Any:
    """Like `gradient_by_paths`, with nodes that all have the same name or the same value."""
    nodes, output = _build(graph, local_gradients.tolist())
    for node in nodes.values():
        setattr(node, attribute, common)
    return submission.gradient_by_paths(output, nodes[leaf])
