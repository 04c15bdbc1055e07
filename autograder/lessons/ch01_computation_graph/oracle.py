"""The reference of ch01_computation_graph against PyTorch's autograd, finite differences, brute force and graphlib."""

from __future__ import annotations

import random
from functools import partial
from graphlib import TopologicalSorter
from itertools import pairwise, permutations

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from autograder.judging import exercise
from course.graph import Node, add, mul, power

EXACT = {"rtol": 1e-10, "atol": 1e-12}


def leaf(number):
    return torch.tensor(number, dtype=torch.float64, requires_grad=True)


@exercise("forward")
def test_forward_against_one_expression(reference, rng):
    for a, b, c in [(2.0, -3.0, 10.0), *rng.normal(size=(20, 3)).tolist()]:
        got = reference.forward(a, b, c)
        assert set(got) == {"d", "e", "L"}
        np.testing.assert_allclose(got["d"], a * b, **EXACT)
        np.testing.assert_allclose(got["e"], a * b + c, **EXACT)
        np.testing.assert_allclose(got["L"], (a * b) ** 2 + 2 * a * b * c + c**2, rtol=1e-9, atol=1e-9)
    assert reference.forward(2.0, -3.0, 10.0) == {"d": -6.0, "e": 4.0, "L": 16.0}


@exercise("backward_by_hand")
def test_backward_against_autograd(reference, rng):
    for numbers in [(2.0, -3.0, 10.0), (0.0, 2.0, -1.0), (2.0, 3.0, -6.0), *rng.normal(size=(20, 3)).tolist()]:
        a, b, c = map(leaf, numbers)
        d = a * b
        e = d + c
        L = e**2
        names = {"a": a, "b": b, "c": c, "d": d, "e": e, "L": L}
        expected = torch.autograd.grad(L, list(names.values()))
        got = reference.backward_by_hand(*numbers)
        assert set(got) == set(names)
        for name, gradient in zip(names, expected, strict=True):
            np.testing.assert_allclose(got[name], gradient, **EXACT)
    known = reference.backward_by_hand(2.0, -3.0, 10.0)
    assert [known[name] for name in "abc"] == [-24.0, 16.0, 8.0]


@exercise("neuron_gradients")
def test_neuron_against_finite_differences_and_autograd(reference, rng):
    def loss(w, x, b, y):
        return (w * x + b - y) ** 2

    for numbers in rng.normal(size=(20, 4)).tolist():
        leaves = [leaf(number) for number in numbers]
        expected = torch.autograd.grad(loss(*leaves), leaves)
        got = reference.neuron_gradients(*numbers)
        assert list(got) == ["w", "x", "b", "y"]
        for i, name in enumerate(got):
            np.testing.assert_allclose(got[name], expected[i], **EXACT)
            up, down = (loss(*(x + step * (i == j) for j, x in enumerate(numbers))) for step in (1e-5, -1e-5))
            np.testing.assert_allclose(got[name], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)


def random_graph(seed, size):
    """Nodes of a random graph in an order of their own, with random local gradients, parents repeated at times."""
    source = random.Random(seed)
    nodes = []
    for _ in range(size):
        parents = source.choices(nodes, k=source.randint(0, 3)) if nodes else []
        nodes.append(Node(source.random(), parents, [source.uniform(-1.5, 1.5) for _ in parents]))
    return nodes


def below(output):
    """The output and all it depends on, by brute force."""
    found = [output]
    for node in found:  # grows
        found += [parent for parent in dict.fromkeys(node.parents) if parent not in found]
    return found


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


def solved(nodes, output):
    """d(output)/d(node) for all nodes: with local gradients in a matrix A, the row of the output in (1 − A)⁻¹."""
    number = {node: i for i, node in enumerate(nodes)}
    A = np.zeros((len(nodes), len(nodes)))
    for node in nodes:
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            A[number[node], number[parent]] += local
    return np.linalg.inv(np.eye(len(nodes)) - A)[number[output]]


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


def autograd_nodes(tensor):
    """PyTorch's nodes behind a tensor, its own first, each once."""
    found = [] if tensor.grad_fn is None else [tensor.grad_fn]
    for node in found:  # grows
        found += [p for p, _ in dict.fromkeys(node.next_functions) if p is not None and p not in found]
    return list(dict.fromkeys(found))


def torch_programs():
    a, b = (torch.tensor(x, requires_grad=True) for x in (2.0, -3.0))
    W = torch.ones(2, 2, requires_grad=True)
    d, k = torch.exp(a), torch.tensor(5.0)
    loop = a
    for _ in range(30):
        loop = loop * loop
    p, q = W.unbind(0)
    return [
        a, k, k * k, a * b, a * a, (a * b + k) ** 2, d * torch.sin(d), d + torch.sin(torch.cos(d)) * d,
        (a * b).detach(), loop, (p.exp() * q).sum(), W @ W, torch.where(W > 0, W, a).mean(), d * k + d,
    ]  # fmt: skip


@exercise("read_torch_graph")
def test_names_against_a_numbered_graph(reference):
    """Some order of PyTorch's nodes, found by brute force, reads like the answer."""
    for tensor in torch_programs():
        names = reference.implementations["read_torch_graph"](tensor)
        nodes = autograd_nodes(tensor)
        waiting = {i: {nodes.index(p) for p, _ in n.next_functions if p is not None} for i, n in enumerate(nodes)}
        frontier = {frozenset()}
        for name in names:
            frontier = {
                done | {i}
                for done in frontier
                for i, node in enumerate(nodes)
                if i not in done and waiting[i] <= done and type(node).__name__ == name
            }
        assert frozenset(range(len(nodes))) in frontier


@exercise("read_torch_graph")
def test_gradients_flow_along_the_names(reference):
    """PyTorch's own engine calls every node once in a backward pass, children first: hooks see them."""
    for tensor in torch_programs():
        if tensor.grad_fn is not None:
            called = []

            def note(grads, name, called=called):
                called.append(name)

            nodes = autograd_nodes(tensor)
            handles = [node.register_prehook(partial(note, name=type(node).__name__)) for node in nodes]
            tensor.sum().backward(retain_graph=True)  # `d` is in several programs
            for handle in handles:
                handle.remove()
            assert sorted(called) == sorted(reference.implementations["read_torch_graph"](tensor))
