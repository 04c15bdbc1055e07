"""Graphs built beside the submission.

A graph is text: `b from a, a; c from b, b` has the leaf a and the output c, which is always last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any
from weakref import WeakKeyDictionary

from course.graph import Node


def changed(submission: Any, function: str, graph: str, *names: str) -> list[str]:
    """The attributes of nodes that a call of `function` wrote, even if only for a while.

    Args:
        names: the nodes that the call gets after the output.
    """
    nodes, output = _build(graph, kind=_NotingNode)
    before = {name: dict(vars(node)) for name, node in nodes.items()}
    written = _noted(nodes.values())
    getattr(submission, function)(output, *(nodes[name] for name in names))
    found = written()
    for name, node in nodes.items():  # vars(node)["grad"] = 0.0 is noted nowhere
        now, then = vars(node), before[name]
        found |= {key for key in {*now, *then} if key not in now or key not in then or now[key] is not then[key]}
    return sorted(found)


def _noting() -> tuple[type[Node], Callable[[Iterable[Node]], Callable[[], set[str]]]]:
    notes: WeakKeyDictionary[Node, set[str]] = WeakKeyDictionary()  # not in attributes, which could be set back

    class NotingNode(Node):
        """A node that notes which of its attributes are set or deleted; copies of it note nothing."""

        def __setattr__(self, name: str, value: Any) -> None:
            if self in notes:
                notes[self].add(name)
            super().__setattr__(name, value)

        def __delattr__(self, name: str) -> None:
            if self in notes:
                notes[self].add(name)
            super().__delattr__(name)

    def noted(nodes: Iterable[Node]) -> Callable[[], set[str]]:
        """Begin to note what is written to `nodes`; the function that is returned tells the attributes so far."""
        watched = list(nodes)
        notes.update((node, set()) for node in watched)
        return lambda: set().union(*(notes[node] for node in watched))

    return NotingNode, noted


_NotingNode, _noted = _noting()


def _statements(graph: str) -> Iterator[tuple[str, list[str]]]:
    """Each node that a graph's text defines, and the names of its parents."""
    for statement in graph.split("; "):
        name, _, parents = statement.partition(" from ")
        yield name, parents.split(", ") if parents else []


def _build(
    graph: str, local_gradients: Iterable[Any] = repeat(1.0), kind: type[Node] = Node
) -> tuple[dict[str, Node], Node]:
    """A graph's nodes by name, and its output. Local gradients are used in the order in which parents are written."""
    statements = dict(_statements(graph))
    names = dict.fromkeys(name for child, parents in statements.items() for name in (child, *parents))
    nodes = {name: kind(1.5 + 0.25 * number, name=name) for number, name in enumerate(names)}
    rest = iter(local_gradients)
    for name, parents in statements.items():
        nodes[name].parents = tuple(nodes[parent] for parent in parents)  # set late: a cycle can be built, too
        nodes[name].local_gradients = tuple(next(rest) for _ in parents)
    return nodes, nodes[list(statements)[-1]]


def _in_states(graph: str, local_gradients: Iterable[Any], states: Mapping[str, str]) -> tuple[dict[str, Node], Node]:
    """Like `_build`, with the names, values and grads of nodes that `states` says."""
    nodes, output = _build(graph, local_gradients)
    for node in nodes.values():
        node.name = {"without names": "", "all of one name": "x"}.get(states["nodes names"], node.name)
        node.value = 1.0 if states["nodes values"] == "all of one value" else node.value
        node.grad = 0.5 if states["nodes grads"] == "with grads" else None
    return nodes, output


def _kind(value: Any) -> str:
    """A description of a value of the wrong type, which cannot be mistaken for a node's name."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text '{value[:30]}'"
    if isinstance(value, int | float):
        return f"the number {float(value):g}"
    return f"an object of type {type(value).__name__}"
