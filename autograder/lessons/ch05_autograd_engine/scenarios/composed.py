"""Whether a graph has one layer behind another, so that the chain rule has something to do."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_composed(root: Any) -> bool:
    """Whether most of some parameter's gradient goes through an operation on other parameters' results.

    In a network the hidden layer's result meets the next layer's weights in a product, and the gradients of both come
    from there. A sum of parameters times arrays has no such product: whatever the arrays are, the engine only hands
    them on.
    """
    order = _sources_last(root)
    below = _leaves_below_each(order)
    whole, cut = (_gradients(root, order, below, cut) for cut in (False, True))
    sizes = {one: np.linalg.norm(gradient) for one, gradient in whole.items()}
    return any(size > 0 and np.linalg.norm(cut.get(one, 0.0)) < 0.1 * size for one, size in sizes.items())


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


def _leaves_below_each(order: list[Any]) -> dict[int, set[int]]:
    """For each node, by id, the ids of the leaves that require a gradient and that it depends on."""
    below: dict[int, set[int]] = {}
    for node in reversed(order):
        own = {id(node)} if not node.edges and node.requires_grad else set()
        below[id(node)] = own.union(*(below[id(parent)] for parent, _ in node.edges or ()))
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
    """Whether a result and something else with parameters meet in more than a sum or a list."""
    with_parameters = [(parent, vjp) for parent, vjp in node.edges if below[id(parent)]]
    if len(with_parameters) < 2 or not any(parent.edges for parent, _ in with_parameters):
        return False
    ones = np.ones(np.shape(node.data))
    return not all(np.ptp(np.asarray(vjp(ones))) < 1e-9 for _, vjp in with_parameters)
