"""Scenarios of reverse_sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _build, _kind


def reverse_sweep(submission: Any, graph: str, local_gradients: np.ndarray) -> Any:
    """What `reverse_sweep` returns, with names in the place of nodes."""
    nodes, output = _build(graph, local_gradients.tolist())
    result = submission.reverse_sweep(output)
    if not isinstance(result, dict):
        return result
    name_of = {id(node): name for name, node in nodes.items()}
    return {name_of.get(id(key), _kind(key)): value for key, value in result.items()}


def uses_of_local_gradients(submission: Any, graph: str, local_gradients: np.ndarray) -> Any:
    """How often `reverse_sweep` computed with each local gradient, in the order in which the graph writes them."""
    counted = [_Counted(local) for local in local_gradients.tolist()]
    _, output = _build(graph, counted)
    submission.reverse_sweep(output)
    return np.array([local.uses for local in counted], dtype=np.int64)


class _Counted:
    """A number that counts what is computed with it. Comparing or printing it costs nothing."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.uses = 0

    def __float__(self) -> float:
        self.uses += 1
        return self.value

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
        return abs(self.value)

    def __eq__(self, other: object) -> Any:
        return self.value == other

    def __lt__(self, other: Any) -> Any:
        return self.value < other

    def __le__(self, other: Any) -> Any:
        return self.value <= other

    def __gt__(self, other: Any) -> Any:
        return self.value > other

    def __ge__(self, other: Any) -> Any:
        return self.value >= other

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return repr(self.value)
