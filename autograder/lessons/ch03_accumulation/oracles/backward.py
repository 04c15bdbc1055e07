"""The reference of backward against something independent."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from autograder.judging import exercise
from autograder.lessons.ch03_accumulation.oracles.graphs import graphs
from course.graph import Node, add, mul


@exercise("backward")
def test_backward_against_autograd(reference):
    """Random graphs, several calls on outputs of one graph: `.grad` of every node, None where PyTorch has None."""
    run = reference.implementations["backward"]

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(graphs())
    def check(drawn):
        nodes, tensors, outputs = drawn
        for i in outputs:
            run(nodes[i])
            tensors[i].backward(retain_graph=True)
        for node, tensor in zip(nodes, tensors, strict=True):
            assert (node.grad is None) == (tensor.grad is None)
            if node.grad is not None:
                np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-9, atol=1e-12)

    check()


@exercise("backward")
def test_worked_example(reference):
    """c = 2a² at a = 3: 12, then 24 (not 36), then 36."""
    a = Node(3.0)
    b = mul(a, a)
    c = add(b, b)
    for expected in [(12, 2, 1), (24, 4, 2), (36, 6, 3)]:
        reference.implementations["backward"](c)
        assert (a.grad, b.grad, c.grad) == expected
