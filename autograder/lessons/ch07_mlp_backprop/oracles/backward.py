"""The reference of backward against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch07_mlp_backprop.oracles.networks import ACTIVATIONS, SHAPES, leaf, random_params, torch_logits


@exercise("backward")
def test_backward_against_autograd(reference, rng):
    for activation in ACTIVATIONS:
        for n, d, m, o in SHAPES:
            params, X, dout = random_params(rng, d, m, o), rng.normal(size=(n, d)), rng.normal(size=(n, o))
            X[0] = 0
            params["b1"][0] = 0  # the pre-activation is exactly 0 in the first row
            leaves = {name: leaf(array) for name, array in params.items()}
            logits = torch_logits(leaves, X, activation)
            expected = torch.autograd.grad(logits, list(leaves.values()), torch.tensor(dout))
            got = reference.backward(params, reference.forward(params, X, activation)[1], dout)
            for name, gradient in zip(leaves, expected, strict=True):
                np.testing.assert_allclose(got[name], gradient, **EXACT)


@exercise("backward")
def test_backward_against_finite_differences(reference, rng):
    """Each parameter moved by ±eps, through the forward pass and the loss."""
    params, X, targets = random_params(rng, 3, 4, 2), rng.normal(size=(5, 3)), rng.integers(2, size=5)
    eps = 1e-6

    def loss(changed):
        return reference.cross_entropy_loss(reference.forward(changed, X, "tanh")[0], targets)[0]

    logits, cache = reference.forward(params, X, "tanh")
    gradients = reference.backward(params, cache, reference.cross_entropy_loss(logits, targets)[1])
    for name, array in params.items():
        expected = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            step = np.zeros_like(array)
            step[index] = eps
            up, down = loss({**params, name: array + step}), loss({**params, name: array - step})
            expected[index] = (up - down) / (2 * eps)
        np.testing.assert_allclose(gradients[name], expected, rtol=1e-6, atol=1e-9)
