"""The reference of train_digits against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import torch_leaf
from course.data import load_digits_train


@exercise("train_digits")
def test_training_against_torch(reference, rng):
    """The same start, batches and steps in PyTorch read the same labels, from images of noise, too."""
    X, y = load_digits_train()
    X, y = X[:320], y[:320]
    X_test = np.concatenate([load_digits_train()[0][320:], rng.uniform(size=(200, 64))])
    draws = np.random.default_rng(4)
    start = [draws.normal(size=(64, 64)) * np.sqrt(2 / 64), np.zeros(64)]
    start += [draws.normal(size=(64, 10)) * np.sqrt(2 / 64), np.zeros(10)]
    W1, b1, W2, b2 = leaves = [torch_leaf(array) for array in start]
    optimizer = torch.optim.SGD(leaves, lr=0.2)
    images, targets = torch.tensor(X), torch.tensor(y)

    def logits(images):
        return torch.relu(images @ W1 + b1) @ W2 + b2

    for _ in range(12):
        for rows in np.array_split(draws.permutation(320), 10):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits(images[rows]), targets[rows]).backward()
            optimizer.step()
    expected = logits(torch.tensor(X_test)).argmax(dim=1).numpy()
    np.testing.assert_array_equal(reference.module.train_digits(X, y, X_test, 4), expected)
