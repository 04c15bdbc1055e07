"""The reference of Tensor.backward against something independent."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import THOROUGH, compute, graphs, same, torch_leaf


@exercise("Tensor.backward")
def test_random_graphs_against_torch(reference, rng):
    """Gradients of every leaf, from one root and then from another, and all of it twice."""
    Tensor = reference.module.Tensor

    @settings(parent=THOROUGH, max_examples=400)
    @given(graphs(), st.integers(0, 20))
    def check(graph, which):
        arrays = [rng.normal(size=shape) for shape in graph[0]]
        leaves, ours = compute(graph, arrays, lambda array: Tensor(array, requires_grad=True))
        theirs_leaves, theirs = compute(graph, arrays, torch_leaf)
        for root in (-1, which % len(ours), -1):
            g = rng.normal(size=ours[root].shape)
            ours[root].backward(g, retain_graph=True)
            theirs[root].backward(torch.tensor(g), retain_graph=True)
            for got, expected in zip(leaves, theirs_leaves, strict=True):
                same(got.grad, expected.grad)
        assert all(result.grad is None for result in ours[len(leaves) :])

    check()


@exercise("Tensor.backward")
def test_errors_against_torch(reference, rng):
    """Where PyTorch refuses, so does the engine, with the same kind of error or a ValueError for a shape."""
    Tensor = reference.module.Tensor

    def outcome(make, program) -> str:
        try:
            program(make)
        except (ValueError, RuntimeError):
            return "refused"
        return "accepted"

    x = rng.normal(size=2)
    ours = (lambda array: Tensor(array, requires_grad=True), np.asarray)
    theirs = (torch_leaf, torch.tensor)

    def twice(make):
        y = (make[0](x) ** 2).tanh()
        y.backward(make[1](x))
        y.backward(make[1](x))

    def shared(make):
        h = make[0](x) ** 2
        (h * h).backward(make[1](x))
        h.tanh().backward(make[1](x))

    programs = [
        twice,
        shared,
        lambda make: (make[0](x) * 2).backward(),
        lambda make: make[0](x[:1]).backward(),
        lambda make: make[0](x[:1].reshape(1, 1)).backward(),
        lambda make: (make[0](x) * 2).backward(make[1](x[:1])),
        lambda make: (make[0](x) * 2).backward(make[1](x[None])),
        lambda make: (make[0](x) * 2).backward(make[1](x)),
    ]
    for program in programs:
        assert outcome(ours, program) == outcome(theirs, program)


@exercise("Tensor.backward")
def test_long_chain_against_torch(reference, rng):
    """100,000 operations."""
    x, g = rng.normal(size=(2, 2))
    ours, theirs = reference.module.Tensor(x, requires_grad=True), torch_leaf(x)
    y, z = ours, theirs
    for _ in range(50_000):
        y, z = -(y + ours), -(z + theirs)
    y.backward(g)
    z.backward(torch.tensor(g))
    same(ours.grad, theirs.grad)
