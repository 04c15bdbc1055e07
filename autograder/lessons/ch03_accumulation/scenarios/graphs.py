"""Graphs written down as text, chains and ladders of nodes.

A graph is `"a = 3.0; b = a * a; c = b + a; d = c ** 2"`: a number is a leaf, a formula is one node made from earlier
ones. Values of `.grad` before a call have the same form, `"a = 1.5; b = 2.0"`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from course.graph import CountedNode, Node, add, mul, power

MOST_READS = 20_000
"""Maximum number of reads of `.parents` in one ladder; a walk that visits each node a few times needs some hundred."""


def _call(function: Any, output: Node) -> None:
    """Call `backward` or `zero_grad`; if the first lesson's `topological_order` is missing, say where to get it."""
    try:
        function(output)
    except NameError as error:
        if error.name == "topological_order":
            error.args = (f"{error}: bring yours from the first lesson, in a cell above",)
        raise


def _lines(text: str) -> list[tuple[str, str]]:
    """Name and right-hand side of each line."""
    return [(name, value) for name, _, value in (line.partition(" = ") for line in text.split("; ") if line)]


def _build(graph: str) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for name, formula in _lines(graph):
        left, sign, right = (*formula.split(), "", "")[:3]
        if sign == "**":
            nodes[name] = power(nodes[left], float(right), name)
        elif sign:
            nodes[name] = (add if sign == "+" else mul)(nodes[left], nodes[right], name)
        else:
            nodes[name] = Node(float(formula), name=name)
    return nodes


def _set_grads(nodes: dict[str, Node], grads: str) -> None:
    for name, grad in _lines(grads):
        nodes[name].grad = float(grad)


def _structure(nodes: dict[str, Node]) -> dict[str, Any]:
    """The parts of a graph that the functions may not change."""
    return {name: (node.value, node.parents, node.local_gradients, node.name) for name, node in nodes.items()}


def _require_same(before: dict[str, Any], after: dict[str, Any], who: str) -> None:
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        raise ValueError(f"{who} changed more than .grad of the node {changed[0]}")


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable the garbage collector, which would traverse 20,000 live nodes again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _chain(factors: np.ndarray) -> list[CountedNode]:
    comparisons = [0]
    nodes: list[CountedNode] = [CountedNode(1.0)]
    for factor in factors.tolist():
        nodes.append(CountedNode(1.0, (nodes[-1],), (factor,)))
    for node in nodes:
        node.comparisons = comparisons
    return nodes


class _Rung(Node):
    """A node that counts reads of `.parents`, and raises when a walk visits every path."""

    reads: list[int]
    """How often `.parents` was read, in the whole ladder."""
    size: int
    """Nodes of the ladder."""
    below: tuple[Node, ...]

    @property
    def parents(self) -> tuple[Node, ...]:
        self.reads[0] += 1
        if self.reads[0] > MOST_READS:
            raise RuntimeError(
                f"the walk came to the nodes of a ladder {MOST_READS:,} times, and there are {self.size}: "
                "it follows every path. Come to each node once"
            )
        return self.below

    @parents.setter
    def parents(self, below: tuple[Node, ...]) -> None:
        self.below = below


def _ladder(weights: np.ndarray) -> list[Node]:
    """Nodes of a ladder, whose number of paths doubles with each rung; `weights` (rungs, 2, 2): local gradients."""
    reads, size = [0], 2 * len(weights) + 3
    nodes: list[Node] = [Node(1.0), Node(1.0)]
    for rung in [*weights.tolist(), [[1.0, 1.0]]]:
        left, right = nodes[-2:]
        for local_gradients in rung:
            node = _Rung(1.0, (left, right), local_gradients)
            node.reads, node.size = reads, size
            nodes.append(node)
    return nodes


def _grads(nodes: Sequence[Node]) -> np.ndarray:
    """`.grad` of each, None as nan."""
    return np.array([float("nan") if node.grad is None else node.grad for node in nodes], dtype=float)
