"""The reference of Tensor against something independent."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import THOROUGH, UNARY, compute, graphs, same, torch_leaf


@exercise("Tensor")
def test_graphs_have_the_values_of_torch(reference, rng):
    """Every result of a random graph."""
    Tensor = reference.module.Tensor

    @THOROUGH
    @given(graphs())
    def check(graph):
        arrays = [rng.normal(size=shape) for shape in graph[0]]
        _, ours = compute(graph, arrays, lambda array: Tensor(array, requires_grad=True))
        _, theirs = compute(graph, arrays, torch_leaf)
        for got, expected in zip(ours, theirs, strict=True):
            same(got.data, expected)
            assert got.requires_grad

    check()


@exercise("Tensor")
def test_dtypes_against_torch(reference, rng):
    """What NumPy and PyTorch agree on: floating dtypes stay, plain numbers change nothing."""
    Tensor = reference.module.Tensor
    for dtype in (np.float16, np.float32, np.float64):
        array = rng.normal(size=3).astype(dtype)
        for function in (lambda x: x, lambda x: 2 * x, lambda x: x / 3, lambda x: x**2, lambda x: 1.5 - x):
            expected = function(torch.tensor(array)).numpy()
            assert function(Tensor(array)).data.dtype == expected.dtype == dtype
            np.testing.assert_allclose(function(Tensor(array)).data, expected, rtol=2e-3)


@exercise("Tensor")
def test_operations_against_finite_differences(reference, rng):
    """The gradients by way of the edges, entry by entry."""
    Tensor = reference.module.Tensor
    functions = [*UNARY.values(), lambda x: x[[0, 1, 0]], lambda x: x.T, lambda x: x.mean(axis=0), lambda x: x @ x.T]
    x, eps = rng.normal(size=(2, 3)), 1e-6
    for function in functions:
        leaf = Tensor(x.copy(), requires_grad=True)
        y = function(leaf)
        g = rng.normal(size=y.shape)
        y.backward(g)
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = eps
            difference = (function(Tensor(x + step)).data - function(Tensor(x - step)).data) / (2 * eps)
            np.testing.assert_allclose(leaf.grad[index], np.sum(g * difference), rtol=1e-6, atol=1e-8)
