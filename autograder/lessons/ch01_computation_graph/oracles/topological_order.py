"""The reference of topological_order against something independent."""

from __future__ import annotations

import random
from graphlib import TopologicalSorter
from itertools import pairwise, permutations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from autograder.judging import exercise
from autograder.lessons.ch01_computation_graph.oracles.graphs import below, random_graph
from course.graph import Node


@exercise("topological_order")
@settings(max_examples=200, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 30))
def test_order_property(reference, seed, size):
    nodes = random_graph(seed, size)
    order = reference.implementations["topological_order"](nodes[-1])
    assert len(order) == len(set(order))
    assert set(order) == set(below(nodes[-1]))
    assert order[-1] is nodes[-1]
    assert all(order.index(parent) < order.index(node) for node in order for parent in node.parents)


@exercise("topological_order")
def test_order_among_all_orders(reference):
    """Of the permutations of a small graph, those that are orders; and graphlib agrees on what is a cycle."""
    order_of = reference.implementations["topological_order"]
    for seed in range(60):
        nodes = random_graph(seed, 6)
        wanted = below(nodes[-1])
        right = [p for p in permutations(wanted) if all(p.index(q) < p.index(n) for n in p for q in n.parents)]
        assert tuple(order_of(nodes[-1])) in right
        back, forth = random.Random(seed).sample(wanted, 2) if len(wanted) > 1 else (nodes[-1], nodes[-1])
        back.parents, back.local_gradients = (*back.parents, forth), (*back.local_gradients, 1.0)
        try:
            list(TopologicalSorter({node: set(node.parents) for node in below(nodes[-1])}).static_order())
        except ValueError:  # graphlib.CycleError is one
            with pytest.raises(ValueError, match="depends on itself"):
                order_of(nodes[-1])
        else:
            order_of(nodes[-1])


@exercise("topological_order")
def test_order_of_a_long_chain(reference):
    node = first = Node(1.0)
    for _ in range(99_999):
        node = Node(1.0, (node,), (1.0,))
    order = reference.implementations["topological_order"](node)
    assert len(order) == 100_000
    assert order[0] is first
    assert all(child.parents == (parent,) for parent, child in pairwise(order))
