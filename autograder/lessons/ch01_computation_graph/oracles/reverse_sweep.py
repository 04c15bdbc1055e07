"""The reference of reverse_sweep against something independent."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import torch
from hypothesis import given, settings

from autograder.judging import EXACT, exercise
from autograder.lessons.ch01_computation_graph.oracles.graphs import below, leaf, random_graph, solved
from course.graph import Node, add, mul, power


@exercise("reverse_sweep")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 30))
def test_sweep_against_linear_algebra(reference, seed, size):
    nodes = random_graph(seed, size)
    got = reference.implementations["reverse_sweep"](nodes[-1])
    assert set(got) == set(below(nodes[-1]))
    for node, expected in zip(nodes, solved(nodes, nodes[-1]), strict=True):
        np.testing.assert_allclose(got.get(node, 0.0), expected, rtol=1e-8, atol=1e-10)


@exercise("reverse_sweep")
def test_sweep_against_autograd(reference, rng):
    """Random programs of +, · and powers, as nodes and as tensors."""
    for _ in range(30):
        numbers = rng.uniform(0.5, 1.5, size=3).tolist()
        nodes, tensors = [Node(number) for number in numbers], [leaf(number) for number in numbers]
        for _ in range(8):
            i, j = (int(k) for k in rng.integers(len(nodes), size=2))
            operation = rng.integers(3)
            if operation == 0:
                nodes.append(add(nodes[i], nodes[j]))
                tensors.append(tensors[i] + tensors[j])
            elif operation == 1:
                nodes.append(mul(nodes[i], nodes[j % 3]))
                tensors.append(tensors[i] * tensors[j % 3])
            else:
                nodes.append(power(nodes[i], 1.5))
                tensors.append(tensors[i] ** 1.5)
        gradients = torch.autograd.grad(tensors[-1], tensors, allow_unused=True)
        got = reference.implementations["reverse_sweep"](nodes[-1])
        for node, gradient in zip(nodes, gradients, strict=True):
            assert (node in got) == (gradient is not None)
            if gradient is not None:
                np.testing.assert_allclose(got[node], gradient, **EXACT)


@exercise("reverse_sweep")
def test_sweep_of_a_billion_paths(reference):
    """30 diamonds of additions double the gradient 30 times."""
    node = first = Node(1.0)
    for _ in range(30):
        left, right = power(node, 1), power(node, 1)
        node = add(left, right)
    assert reference.implementations["reverse_sweep"](node)[first] == 2.0**30
