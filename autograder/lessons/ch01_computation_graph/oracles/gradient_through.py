"""The reference of gradient_through against something independent."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from autograder.judging import exercise
from autograder.lessons.ch01_computation_graph.oracles.graphs import random_graph


def listed(output, node, leaf, passed=False):
    """The sum over the paths through node, one by one."""
    passed = passed or output is node
    if output is leaf:
        return float(passed)
    steps = zip(output.parents, output.local_gradients, strict=True)
    return sum(local * listed(parent, node, leaf, passed) for parent, local in steps)


@exercise("gradient_through")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 9))
def test_part_against_all_paths(reference, seed, size):
    nodes = random_graph(seed, size)
    for node in nodes:
        for leaf in nodes:
            got = reference.implementations["gradient_through"](nodes[-1], node, leaf)
            assert type(got) is float
            np.testing.assert_allclose(got, listed(nodes[-1], node, leaf), rtol=1e-9, atol=1e-12)
