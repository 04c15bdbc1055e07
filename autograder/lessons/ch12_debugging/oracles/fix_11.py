"""The reference of fix_11 against something independent."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import SEEDS, classification, mlp, nll, of


@exercise("fix_11")
@pytest.mark.parametrize("seed", SEEDS)
def test_11_against_float64(reference, seed):
    """Adam by its formulas (Kingma and Ba 2015), in float64 throughout."""
    model, batches, n_tokens, lr = mlp(seed, 4, 8, 3), classification(seed, 16, 4, 3, 12), 3e7, 0.02
    twin = copy.deepcopy(model).double()
    parameters = list(twin.parameters())
    m, v = ([torch.zeros_like(parameter) for parameter in parameters] for _ in range(2))
    losses = []
    for t, (X, y) in enumerate(batches, 1):
        mean = nll(twin(X.double()), y)
        losses.append(float(mean.detach()))
        grads = torch.autograd.grad(mean * len(y) / n_tokens, parameters)
        with torch.no_grad():
            for i, grad in enumerate(grads):
                m[i] = 0.9 * m[i] + 0.1 * grad
                v[i] = 0.999 * v[i] + 0.001 * grad**2
                parameters[i] -= lr * (m[i] / (1 - 0.9**t)) / ((v[i] / (1 - 0.999**t)).sqrt() + 1e-8)
    np.testing.assert_allclose(of(reference, "fix_11")(model, batches, n_tokens, lr), losses, rtol=5e-3)
