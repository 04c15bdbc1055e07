"""Scenarios of reverse_sweep."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _build, _in_states, _kind
from course.graph import Node


def reverse_sweep(submission: Any, graph: str, local_gradients: np.ndarray) -> Any:
    """The result of `reverse_sweep`, with nodes replaced by their names."""
    return _swept(submission, *_build(graph, local_gradients.tolist()))


def reverse_sweep_in_states(submission: Any, graph: str, local_gradients: np.ndarray, states: Mapping[str, str]) -> Any:
    """Like `reverse_sweep`, with nodes in these states."""
    return _swept(submission, *_in_states(graph, local_gradients.tolist(), states))


def _swept(submission: Any, nodes: dict[str, Node], output: Node) -> Any:
    result = submission.reverse_sweep(output)
    if not isinstance(result, dict):
        return result
    name_of = {id(node): name for name, node in nodes.items()}
    return {name_of.get(id(key), _kind(key)): value for key, value in result.items()}


def reverse_sweep_of_many(
    submission: Any,
    parents: np.ndarray,
    local_gradients: np.ndarray,
    order: np.ndarray,
    of_output: np.ndarray,
    places: np.ndarray,
) -> Any:
    """The result of `reverse_sweep` for some of many numbered nodes, all of which the output uses, in some order.

    Node 0 is a leaf, and row i has the parents of node i + 1; `order` has the parents of the output, and `of_output`
    its local gradients. A walk from the output meets the nodes in that order, which is no order to sweep in. Returns
    the number of entries, then the gradients, with nan for nodes without an entry. The recursion limit is raised to
    the depth of the graph, because a recursive topological order only costs points in its own exercise.
    """
    nodes = [Node(1.0)]
    for numbers, local in zip(parents.tolist(), local_gradients.tolist(), strict=True):
        nodes.append(Node(1.0, [nodes[number] for number in numbers], local))
    output = Node(1.0, [nodes[number] for number in order.tolist()], of_output.tolist())
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 4 * len(nodes))
    try:
        result = submission.reverse_sweep(output)
    finally:
        sys.setrecursionlimit(limit)
    if not isinstance(result, dict):
        return result
    return [len(result), np.array([result.get(nodes[place], np.nan) for place in places.tolist()], dtype=np.float64)]


def uses_of_local_gradients(submission: Any, graph: str, local_gradients: np.ndarray) -> Any:
    """How often `reverse_sweep` used each local gradient, in the order in which the graph's text has them."""
    counted, uses = _counted(local_gradients.tolist())
    _, output = _build(graph, counted)
    submission.reverse_sweep(output)
    return np.array(uses(), dtype=np.int64)


def _counting() -> tuple[type, Callable[[list[float]], tuple[list[Any], Callable[[], list[int]]]]]:
    values: list[float] = []
    counters: list[itertools.count[int]] = []  # they cannot be set back, and are not attributes

    class Counted:
        """A number that counts the operations on it, except comparisons; it does not print its value."""

        __slots__ = ("number",)

        def __init__(self, number: int) -> None:
            self.number = number

        def __float__(self) -> float:
            next(counters[self.number])
            return values[self.number]

        def __mul__(self, other: Any) -> Any:
            return float(self) * other

        def __rmul__(self, other: Any) -> Any:
            return other * float(self)

        def __add__(self, other: Any) -> Any:
            return float(self) + other

        def __radd__(self, other: Any) -> Any:
            return other + float(self)

        def __sub__(self, other: Any) -> Any:
            return float(self) - other

        def __rsub__(self, other: Any) -> Any:
            return other - float(self)

        def __truediv__(self, other: Any) -> Any:
            return float(self) / other

        def __rtruediv__(self, other: Any) -> Any:
            return other / float(self)

        def __pow__(self, other: Any) -> Any:
            return float(self) ** other

        def __neg__(self) -> float:
            return -float(self)

        def __pos__(self) -> float:
            return float(self)

        def __abs__(self) -> float:
            return abs(values[self.number])

        def __eq__(self, other: object) -> Any:
            return values[self.number] == other

        def __lt__(self, other: Any) -> Any:
            return values[self.number] < other

        def __le__(self, other: Any) -> Any:
            return values[self.number] <= other

        def __gt__(self, other: Any) -> Any:
            return values[self.number] > other

        def __ge__(self, other: Any) -> Any:
            return values[self.number] >= other

        def __hash__(self) -> int:
            return hash(values[self.number])

        def __bool__(self) -> bool:
            return bool(values[self.number])

        def __repr__(self) -> str:
            return f"local gradient {self.number}"

    def counted(new: list[float]) -> tuple[list[Any], Callable[[], list[int]]]:
        """Numbers that count the operations on them, and a function that returns the counts; call it only once."""
        numbers = range(len(values), len(values) + len(new))
        of_new = [itertools.count() for _ in new]
        values.extend(new)
        counters.extend(of_new)
        return [Counted(number) for number in numbers], lambda: [next(counter) for counter in of_new]

    return Counted, counted


_Counted, _counted = _counting()
