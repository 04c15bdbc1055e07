"""Returns 60 MiB from every call, more than can be sent: 4 points."""

import numpy as np

large = np.zeros(60 * 2**17)


def single_example_gradients(W1, W2, x, t):
    return large, large[:10]


def forward(params, X, activation="relu"):
    return large.reshape(-1, 2), None


def cross_entropy_loss(logits, targets):
    return 1.0, large
