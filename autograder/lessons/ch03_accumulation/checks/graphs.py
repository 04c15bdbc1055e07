"""Graphs as text, drawn."""

from __future__ import annotations


def number(rng):
    """A random number of either sign, not 0, 1 or 2, short enough to read."""
    return round(float(rng.choice([-1, 1]) * rng.uniform(1.1, 1.9)), 2)


def random_graph(rng, leaves, size):
    """Leaves, nodes that are sums or multiples of earlier ones, and the name of a node that depends on all of them."""
    graph = {f"a{i}": number(rng) for i in range(leaves)}
    for i in range(size):
        near, old = rng.choice(list(graph)[-3:]), rng.choice(list(graph))  # paths of many lengths
        graph[f"b{i}"] = f"{near} + {old}" if rng.integers(2) else f"{near} * a{rng.integers(leaves)}"
    used = {name for formula in graph.values() if isinstance(formula, str) for name in formula.split()}
    output, *others = [name for name in reversed(graph) if name not in used]
    for i, name in enumerate(others):
        graph[f"c{i}"] = f"{output} + {name}"
        output = f"c{i}"
    return graph, output


def text(values):
    """A graph, or values of .grad, as text for feedback: `"a = 3.0; b = a * a"`."""
    return "; ".join(f"{name} = {value}" for name, value in values.items())
