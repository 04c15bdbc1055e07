"""The reference of tied_autoencoder_gradient against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch03_accumulation.oracles.graphs import leaf


@exercise("tied_autoencoder_gradient")
def test_tied_against_autograd(reference, rng):
    for m, d in [(1, 1), (1, 3), (3, 1), (2, 4), (4, 2), (3, 3)]:
        W, x = rng.normal(size=(m, d)), rng.normal(size=d)
        V, t = leaf(W), torch.tensor(x)
        loss = 0.5 * (V.T @ torch.relu(V @ t) - t).square().sum()
        np.testing.assert_allclose(reference.tied_autoencoder_gradient(W, x), torch.autograd.grad(loss, V)[0], **EXACT)
    W, x = np.array([[1.0, 0.5], [0.0, 2.0]]), np.array([1.5, 0.0])  # the second unit is at exactly 0
    V, t = leaf(W), torch.tensor(x)
    loss = 0.5 * (V.T @ torch.relu(V @ t) - t).square().sum()
    np.testing.assert_allclose(reference.tied_autoencoder_gradient(W, x), torch.autograd.grad(loss, V)[0], **EXACT)


@exercise("tied_autoencoder_gradient")
def test_tied_against_finite_differences(reference, rng):
    """Each weight moved by ±eps, in both of its uses."""
    W, x, eps = rng.normal(size=(3, 4)), rng.normal(size=4), 1e-6

    def loss(weights):
        return 0.5 * np.sum((weights.T @ np.maximum(weights @ x, 0) - x) ** 2)

    expected = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        step = np.zeros_like(W)
        step[index] = eps
        expected[index] = (loss(W + step) - loss(W - step)) / (2 * eps)
    np.testing.assert_allclose(reference.tied_autoencoder_gradient(W, x), expected, rtol=1e-6, atol=1e-8)
