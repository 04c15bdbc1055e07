"""Random graphs, and the ancestors of a node."""

from __future__ import annotations

import random

import numpy as np
import torch

from course.graph import Node


def leaf(number):
    return torch.tensor(number, dtype=torch.float64, requires_grad=True)


def random_graph(seed, size):
    """The shuffled nodes of a random graph with random local gradients and sometimes repeated parents."""
    source = random.Random(seed)
    nodes = []
    for _ in range(size):
        parents = source.choices(nodes, k=source.randint(0, 3)) if nodes else []
        nodes.append(Node(source.random(), parents, [source.uniform(-1.5, 1.5) for _ in parents]))
    return nodes


def below(output):
    """The output and all of its ancestors, by brute force."""
    found = [output]
    for node in found:  # grows
        found += [parent for parent in dict.fromkeys(node.parents) if parent not in found]
    return found


def solved(nodes, output):
    """d(output)/d(node) for all nodes: the output's row of (1 − A)⁻¹, where the matrix A has the local gradients."""
    number = {node: i for i, node in enumerate(nodes)}
    A = np.zeros((len(nodes), len(nodes)))
    for node in nodes:
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            A[number[node], number[parent]] += local
    return np.linalg.inv(np.eye(len(nodes)) - A)[number[output]]
