"""Whether a graph has one layer behind another, so that the chain rule has something to do."""

from __future__ import annotations

from typing import Any

import numpy as np

SMALL = 32
"""Maximum number of entries of an array that may do without a layer behind it, as the last bias does."""
LONG = 640
"""A longer vector may contain all weights: each of its parts counts as an array of its own."""


def shares_beside_products(root: Any, leaves: list[Any]) -> list[float]:
    """For each leaf: the share of its gradient that goes through no product of two layers.

    In a network the hidden layer's result meets the next layer's weights in a product, and the gradients of both come
    from there. A sum of parameters times arrays has no such product: whatever the arrays are, the engine only hands
    them on. The gradient of a penalty on a leaf itself is left out.
    """
    order = _sources_last(root)
    below = _arrays_below_each(order, {id(leaf) for leaf in leaves if leaf.data.size > SMALL})
    whole, beside = (_gradients(root, order, below, cut) for cut in (False, True))
    return [_share(leaf, beside.get(id(leaf)), whole.get(id(leaf))) for leaf in leaves]


def _share(leaf: Any, beside: Any, whole: Any) -> float:
    """The norm of `beside`, without what a penalty on the leaf's size contributes, by the norm of `whole`."""
    size = 0.0 if whole is None else float(np.linalg.norm(whole))
    if beside is None or size == 0:
        return 0.0
    part = np.ravel(beside).astype(np.float64)
    for penalty in (np.ravel(leaf.data), np.sign(np.ravel(leaf.data))):  # weights from 0 on are minus their gradients
        part = part - np.maximum(0.0, part @ penalty) / max(float(penalty @ penalty), 1e-30) * penalty
    return float(np.linalg.norm(part)) / size


def is_long_vector(array: Any) -> bool:
    return np.ndim(array) == 1 and np.size(array) > LONG


def _sources_last(root: Any) -> list[Any]:
    """The nodes of a graph, each before those that it was made of."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(parent, False) for parent, _ in node.edges or ()]
    return order[::-1]


def _arrays_below_each(order: list[Any], wanted: set[int]) -> dict[int, set[int]]:
    """For each node, by id, the ids of the wanted leaves, or parts of long vectors, that it depends on."""
    below: dict[int, set[int]] = {}
    for node in reversed(order):
        parents = [parent for parent, _ in node.edges or ()]
        below[id(node)] = ({id(node)} & wanted).union(*(below[id(parent)] for parent in parents))
        if len(parents) == 1 and id(parents[0]) in wanted and is_long_vector(parents[0].data):
            below[id(node)] = {id(node)}
    return below


def _gradients(root: Any, order: list[Any], below: dict[int, set[int]], cut: bool) -> dict[int, Any]:
    """The gradients of the leaves by id; optionally without those that go through a product of two layers."""
    gradients = {id(root): np.ones(np.shape(root.data))}
    for node in order:
        g = gradients.get(id(node))
        if g is None or not node.edges or (cut and _is_a_product(node, below)):
            continue
        for parent, vjp in node.edges:
            gradients[id(parent)] = gradients.get(id(parent), 0.0) + np.asarray(vjp(g.copy()))
    return {id(node): gradients[id(node)] for node in order if not node.edges and id(node) in gradients}


def _is_a_product(node: Any, below: dict[int, set[int]]) -> bool:
    """Whether a result meets, in more than a sum or a list, something with other arrays, which it lacks."""
    edges = [(parent, vjp, below[id(parent)]) for parent, vjp in node.edges if below[id(parent)]]
    if not any(parent.edges for parent, *_ in edges) or not any(a - b and b - a for *_, a in edges for *_, b in edges):
        return False
    ones = np.ones(np.shape(node.data))
    return not all(np.ptp(np.asarray(vjp(ones))) < 1e-9 for _, vjp, _ in edges)
