"""Graphs for checks: small ones written by hand, and random ones."""

from __future__ import annotations

import numpy as np

from autograder.judging import expect
from autograder.wording import clean, enumeration

Parents = dict[str, list[str]]


SMALL = {  # what a graph is: the graph, its output last
    "a single node": "a",
    "a chain": "b from a; c from b",
    "two parents": "c from a, b",
    "L = (a·b + c)²": "d from a, b; e from d, c; L from e",
    "L = (w·x + b − y)²": "m from w, x; p from m, b; r from p, y; L from r",
    "an output that another node uses": "c from b; b from a",
    "a node that the output does not use": "b from a; z from a; c from b",
}
TWICE = {
    "b = a + a": "b from a, a",
    "b = a + a; c = b + b": "b from a, a; c from b, b",
    "d = a·a·b, in one step": "d from a, a, b",
    "a node used three times": "b from a; c from b, b, b; d from c",
}
SHARED = {
    "a diamond": "b from a; c from a; d from b, c",
    "a short and a long way, the long one first": "b from a; c from b, a",
    "a short and a long way, the short one first": "b from a; c from a, b",
    "ways of three lengths, the longest first": "b from a; c from b; d from c, b, a",
    "ways of three lengths, the shortest first": "b from a; c from b; d from a, b, c",
    "a long way round, found last": "h from x; p from h; q from p; L from x, h, q",
    "a long way round, found first": "h from x; p from h; q from p; L from q, h, x",
    "two diamonds, one after the other": "b from a; c from a; d from b, c; e from d; f from d; g from e, f",
    "a leaf used at every step": "h from w, x; p from w, h; q from w, p; L from q, h",
}


def parents_of(graph: str) -> Parents:
    """The parents of every node that a graph's text mentions; its output is the last key."""
    found: Parents = {}
    for statement in graph.split("; "):
        name, _, parents = statement.partition(" from ")
        found.pop(name, None)
        found |= {parent: [] for parent in parents.split(", ") if parent and parent not in found}
        found[name] = parents.split(", ") if parents else []
    return found


def edges(graph: str) -> int:
    """The number of local gradients in a graph."""
    return sum(len(parents) for parents in parents_of(graph).values())


def local_gradients(rng, graph):
    """A random number for each use of a parent, of either sign and never near 0 or equal to 1."""
    count = edges(graph)
    below, above = rng.uniform(0.5, 0.9, count), rng.uniform(1.1, 1.5, count)
    return rng.choice([-1, 1], count) * np.where(rng.random(count) < 0.5, below, above)


def random_graph(rng, size) -> str:
    """A random graph: up to three parents per node, sometimes repeated, and some nodes that the output does not use.

    Neither names nor the order of statements reveal a topological order; only the output is always last.
    """
    names = [f"n{number}" for number in [*rng.permutation(size - 1), size - 1]]
    written = []
    for node, name in enumerate(names):
        most = 0 if node == 0 else 2 if node == 1 else 3
        count = int(rng.integers(min(node, 1) if node == size - 1 else 0, most + 1))
        parents = [names[parent] for parent in rng.integers(0, max(node, 1), size=count)]
        written.append(f"{name} from {', '.join(parents)}" if parents else name)
    return "; ".join([*[written[i] for i in rng.permutation(size - 1)], written[-1]])


def ladder(stages: int) -> str:
    """A chain of diamonds, with 2 ** stages paths."""
    rungs = [f"l{i} from n{i}; r{i} from n{i}; n{i + 1} from l{i}, r{i}" for i in range(stages)]
    return "; ".join(rungs)


def local_gradients_of(kind, rng, graph):
    """Local gradients of the sort that a row says: like `local_gradients`, whole ones, one of 0, small and large."""
    local = local_gradients(rng, graph)
    sort = kind.levels["nodes locals"]
    if sort == "with whole local gradients":
        return rng.integers(2, 6, len(local)) * rng.choice([-1, 1], len(local))
    if sort == "with a local gradient of 0":
        local[rng.integers(len(local))] = 0.0
    if sort == "with small and large local gradients":
        local *= 10.0 ** rng.permutation(np.resize([-13, 6], len(local)))
    return local


BY_ENTRY = {"rtol": 1e-9, "atol": 1e-300}
"""For gradients that may be small: each is a sum of few products, of which no two cancel."""


def expect_untouched(learner, function, graph, case, *names, advice="Keep notes in a set or a dict of your own."):
    """Expect that a call of `function` for a graph's output and the nodes of these names writes to no node."""
    found = learner.scenario.changed(function, graph, *names)
    found = enumeration([clean(str(name), 30) for name in found] or ["nothing"])
    expect(found == "nothing", f"{function} wrote to the nodes: {found}. {advice}", case=case)
