"""Random graphs, and leaves of PyTorch's."""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from course.graph import Node, add, mul, power


def leaf(array):
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


@st.composite
def graphs(draw):
    """Nodes and the same in PyTorch, every one with its `.grad` retained."""
    values = draw(st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=3))
    nodes, tensors = [Node(value) for value in values], [leaf(value) for value in values]
    for _ in range(draw(st.integers(0, 8))):
        i, j = (draw(st.integers(0, len(nodes) - 1)) for _ in range(2))
        operation = draw(st.sampled_from(["add", "mul", "square"]))
        if operation == "add":
            nodes.append(add(nodes[i], nodes[j]))
            tensors.append(tensors[i] + tensors[j])
        elif operation == "mul":
            nodes.append(mul(nodes[i], nodes[j]))
            tensors.append(tensors[i] * tensors[j])
        else:
            nodes.append(power(nodes[i], 2))
            tensors.append(tensors[i] ** 2)
        tensors[-1].retain_grad()
    outputs = draw(st.lists(st.integers(0, len(nodes) - 1), min_size=1, max_size=3))
    return nodes, tensors, outputs
