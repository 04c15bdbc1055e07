"""Scenarios of ch01_computation_graph: graphs built beside the submission, and what its functions make of them.

A graph is text: `b from a, a; c from b, b` has the leaf a, and its output is c, which stands last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from types import SimpleNamespace
from typing import Any

import numpy as np

from course.graph import CountedNode, Node


def topological_order(submission: Any, graph: str) -> Any:
    """The order of a graph's nodes, by name, anything else in words; what an answer is that is no list."""
    nodes, output = _build(graph)
    return _names(submission.topological_order(output), nodes)


def topological_order_of_namesakes(submission: Any, graph: str, attribute: str, common: Any) -> Any:
    """As `topological_order`, where the nodes have one name, or one value, in common."""
    nodes, output = _build(graph)
    for node in nodes.values():
        setattr(node, attribute, common)
    return _names(submission.topological_order(output), nodes)


def topological_order_of_many(submission: Any, children: np.ndarray, parents: np.ndarray) -> Any:
    """As `topological_order`, nodes numbered and the last one the output: an array of numbers, -1 for other objects.

    A `RecursionError` is told like an answer that is no list.
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


def gradient_by_paths(submission: Any, graph: str, local_gradients: np.ndarray, leaf: str) -> Any:
    """What `gradient_by_paths` returns for the output and the node called `leaf`."""
    nodes, output = _build(graph, local_gradients.tolist())
    return submission.gradient_by_paths(output, nodes[leaf])


def gradient_by_paths_among_namesakes(
    submission: Any, graph: str, local_gradients: np.ndarray, leaf: str, attribute: str, common: Any
) -> Any:
    """As `gradient_by_paths`, where the nodes have one name, or one value, in common."""
    nodes, output = _build(graph, local_gradients.tolist())
    for node in nodes.values():
        setattr(node, attribute, common)
    return submission.gradient_by_paths(output, nodes[leaf])


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


def changed(submission: Any, function: str, graph: str) -> list[str]:
    """The attributes of nodes that a call of `function` changed or set."""
    nodes, output = _build(graph)
    before = {name: dict(vars(node)) for name, node in nodes.items()}
    getattr(submission, function)(output)
    found = set()
    for name, node in nodes.items():
        now = vars(node)
        found |= {key for key in {*now, *before[name]} if key not in now or now[key] is not before[name].get(key)}
    return sorted(found)


def read_torch_graph(submission: Any, program: str) -> Any:
    """What `read_torch_graph` returns for the tensor `L` of a program; what an answer is that is no list."""
    result = submission.read_torch_graph(_run(program))
    if not isinstance(result, list | tuple):
        return _kind(result)
    return [name if isinstance(name, str) else None for name in result]


def torch_graph(submission: Any, program: str) -> tuple[list[str], list[list[int]]]:
    """PyTorch's own graph of the tensor `L`: the names of its nodes, and the numbers of each node's parents."""
    nodes = [node for node in (_run(program).grad_fn,) if node is not None]
    parents = []
    for node in nodes:  # grows as parents are found
        found = [parent for parent, _ in node.next_functions if parent is not None]
        nodes += [parent for parent in dict.fromkeys(found) if parent not in nodes]
        parents.append([nodes.index(parent) for parent in found])
    return [type(node).__name__ for node in nodes], parents


def _statements(graph: str) -> Iterator[tuple[str, list[str]]]:
    """Each node that a graph's text defines, and the names of its parents."""
    for statement in graph.split("; "):
        name, _, parents = statement.partition(" from ")
        yield name, parents.split(", ") if parents else []


def _build(graph: str, local_gradients: Iterable[Any] = repeat(1.0)) -> tuple[dict[str, Node], Node]:
    """A graph's nodes by name, and its output. Local gradients are taken in the order in which parents are written."""
    statements = dict(_statements(graph))
    names = dict.fromkeys(name for child, parents in statements.items() for name in (child, *parents))
    nodes = {name: Node(1.5 + 0.25 * number, name=name) for number, name in enumerate(names)}
    rest = iter(local_gradients)
    for name, parents in statements.items():
        nodes[name].parents = tuple(nodes[parent] for parent in parents)  # set late: a cycle can be built, too
        nodes[name].local_gradients = tuple(next(rest) for _ in parents)
    return nodes, nodes[list(statements)[-1]]


def _names(result: Any, nodes: dict[str, Node]) -> Any:
    if not isinstance(result, list | tuple):
        return _kind(result)
    name_of = {id(node): name for name, node in nodes.items()}
    return [name_of.get(id(node)) or _kind(node) for node in result]


def _kind(value: Any) -> str:
    """What a value is that should be something else; no node of a graph is called like this."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text '{value[:30]}'"
    if isinstance(value, int | float):
        return f"the number {float(value):g}"
    return f"an object of type {type(value).__name__}"


def _run(program: str) -> Any:
    """The tensor `L` of a program over the leaves a, b, c, W and x; k is a number that needs no gradient."""
    import torch

    leaves = {"a": 2.0, "b": -3.0, "c": 10.0, "W": [[1.0, 2.0], [3.0, 4.0]], "x": [0.5, -1.0]}
    names = {name: torch.tensor(value, requires_grad=True) for name, value in leaves.items()}
    scope = {"torch": torch, "k": torch.tensor(5.0), **names}
    exec(program, scope)
    return SimpleNamespace(**scope).L


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
