"""ch07's training as one function, with small uniform weights and batches in a row."""

import numpy as np


def train(X, y, hidden=64, epochs=30, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    W1, W2 = rng.uniform(-0.2, 0.2, (64, hidden)), rng.uniform(-0.2, 0.2, (hidden, 10))
    b1, b2 = np.zeros(hidden), np.zeros(10)
    for _ in range(epochs):
        order = rng.permutation(len(X))
        for start in range(0, len(X), 32):
            rows = order[start : start + 32]
            x, H = X[rows], np.maximum(X[rows] @ W1 + b1, 0)
            E = np.exp(H @ W2 + b2)
            g = (E / E.sum(axis=1, keepdims=True) - np.eye(10)[y[rows]]) / len(rows)
            gH = g @ W2.T * (H > 0)
            W2, b2 = W2 - lr * H.T @ g, b2 - lr * g.sum(axis=0)
            W1, b1 = W1 - lr * x.T @ gH, b1 - lr * gH.sum(axis=0)
    return {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
