"""Scenarios of topological_order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _build, _in_states, _kind
from course.graph import CountedNode, Node


def topological_order(submission: Any, graph: str) -> Any:
    """The names in the submission's order, with other entries described in words; a description if it is not a list."""
    nodes, output = _build(graph)
    return _names(submission.topological_order(output), nodes)


def topological_order_in_states(
    submission: Any, graph: str, local_gradients: np.ndarray, states: Mapping[str, str]
) -> Any:
    """Like `topological_order`, with nodes in these states."""
    nodes, output = _in_states(graph, local_gradients.tolist(), states)
    return _names(submission.topological_order(output), nodes)


def topological_order_of_many(submission: Any, children: np.ndarray, parents: np.ndarray) -> Any:
    """Like `topological_order`, with numbered nodes, the last being the output. Returns numbers, -1 for other objects.

    A `RecursionError` is returned in words, like an answer that is not a list.
    """
    lists: list[list[int]] = [[] for _ in range(1 + max(children.max(), parents.max()))]
    for child, parent in zip(children.tolist(), parents.tolist(), strict=True):
        lists[child].append(parent)
    comparisons = [0]
    nodes = [CountedNode(float(number)) for number in range(len(lists))]
    for node, numbers in zip(nodes, lists, strict=True):
        node.parents = tuple(nodes[number] for number in numbers)
        node.local_gradients = (1.0,) * len(numbers)
        node.comparisons = comparisons
    try:
        result = submission.topological_order(nodes[-1])
    except RecursionError:
        return "RecursionError"
    if not isinstance(result, list | tuple):
        return _kind(result)
    number_of = {id(node): number for number, node in enumerate(nodes)}
    return np.array([number_of.get(id(node), -1) for node in result], dtype=np.int64)


def _names(result: Any, nodes: dict[str, Node]) -> Any:
    if not isinstance(result, list | tuple):
        return _kind(result)
    name_of = {id(node): name for name, node in nodes.items()}
    return [name_of.get(id(node)) or _kind(node) for node in result]
