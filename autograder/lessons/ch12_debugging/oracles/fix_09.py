"""The reference of fix_09 against something independent."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import SEEDS, classification, of, same


@exercise("fix_09")
@pytest.mark.parametrize("seed", SEEDS)
def test_09_by_hand(reference, seed):
    """Trained here in train mode with the same masks; the validation loss in NumPy, from parameters and statistics."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 3)
    )
    twin, (*batches, (X, y)) = copy.deepcopy(model), classification(seed, 8, 3, 3, 5)
    expected = []
    torch.manual_seed(seed)
    for _ in range(3):
        for inputs, targets in batches:
            grads = torch.autograd.grad(F.cross_entropy(twin(inputs), targets), list(twin.parameters()))
            with torch.no_grad():
                for parameter, grad in zip(twin.parameters(), grads, strict=True):
                    parameter -= 0.1 * grad
        W, b, gamma, beta, mean, variance, _, V, c = (value.double().numpy() for value in twin.state_dict().values())
        h = (X.double().numpy() @ W.T + b - mean) / np.sqrt(variance + 1e-5) * gamma + beta
        logits = np.maximum(h, 0) @ V.T + c
        expected.append(float(np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(y)), y.numpy()])))
    torch.manual_seed(seed)
    same(of(reference, "fix_09")(model, batches, (X, y), 3, 0.1), expected)
