"""The reference of gradient_by_paths against something independent."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from autograder.judging import exercise
from autograder.lessons.ch01_computation_graph.oracles.graphs import random_graph, solved


@exercise("gradient_by_paths")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 12))
def test_paths_against_linear_algebra(reference, seed, size):
    nodes = random_graph(seed, size)
    for output in (nodes[-1], nodes[size // 2]):
        for node, expected in zip(nodes, solved(nodes, output), strict=True):
            got = reference.implementations["gradient_by_paths"](output, node)
            assert type(got) is float
            np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)
