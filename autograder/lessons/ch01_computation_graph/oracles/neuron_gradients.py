"""The reference of neuron_gradients against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch01_computation_graph.oracles.graphs import leaf


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
