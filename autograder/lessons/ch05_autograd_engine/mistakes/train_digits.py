"""Wrong answers to train_digits, with what is said of them."""

from __future__ import annotations

from itertools import count

import numpy as np

from autograder.diagnosis import misconception

_calls = count(1)

# train_digits: the networks are written out without an engine, so that only the training has a mistake


def _train(X, y, X_test, rng, *, lr=0.2, epochs=3, scale=1.0, reset=True, learning=(0, 1, 2, 3), rows_of=None):
    """Labels of X_test by a relu network; correct with the defaults and more epochs."""
    arrays = [rng.normal(size=(X.shape[1], 64)) * scale * np.sqrt(2 / 64), np.zeros(64)]
    arrays += [rng.normal(size=(64, 10)) * scale * np.sqrt(2 / 64), np.zeros(10)]
    W1, b1, W2, b2 = arrays
    grads = [np.zeros_like(array) for array in arrays]
    with np.errstate(all="ignore"):
        for _ in range(epochs):
            for rows in np.array_split(rng.permutation(len(y)), max(len(y) // 64, 1)):
                rows = rows if rows_of is None else rows_of
                H = np.maximum(X[rows] @ W1 + b1, 0)
                z = H @ W2 + b2
                p = np.exp(z - z.max(axis=1, keepdims=True))
                p /= p.sum(axis=1, keepdims=True)
                p[np.arange(len(rows)), y[rows]] -= 1
                p /= len(rows)
                dZ = (p @ W2.T) * (H > 0)
                for number, gradient in enumerate([X[rows].T @ dZ, dZ.sum(axis=0), H.T @ p, p.sum(axis=0)]):
                    grads[number] = gradient if reset else grads[number] + gradient
                    if number in learning:
                        arrays[number] -= lr * grads[number]
        return np.argmax(np.maximum(X_test @ W1 + b1, 0) @ W2 + b2, axis=1)


@misconception("train_digits", says="The steps go uphill: subtract the gradient times the step size, do not add it.")
def uphill(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), lr=-0.2)


@misconception(
    "train_digits",
    says="grad is never reset, so each step goes along the sum of all gradients so far. Set it to None before "
    "the next backward.",
)
def grad_never_reset(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), lr=0.5, epochs=2, reset=False)


@misconception(
    "train_digits",
    says="All weights start at 0, and so does every gradient but that of the last bias: draw them at random.",
)
def weights_of_zero(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), scale=0.0)


@misconception(
    "train_digits",
    says="The parameters never change: p = p - lr * p.grad makes a new tensor and forgets it. Change p.data.",
)
def steps_lost(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), epochs=0)


@misconception(
    "train_digits", says="Only the first rows are ever used: go through all of them in every epoch, in a fresh order."
)
def first_rows_only(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), rows_of=np.arange(32))


@misconception(
    "train_digits",
    says="The rows of X were shuffled without their labels: use one order for both, X[rows] and y[rows].",
)
def labels_left_behind(X, y, X_test, seed):
    rng = np.random.default_rng(seed)
    return _train(X[rng.permutation(len(y))], y, X_test, rng)


@misconception(
    "train_digits", says="These are the labels of the training images: read X_test with the trained network."
)
def labels_of_the_training(X, y, X_test, seed):
    return _train(X, y, X, np.random.default_rng(seed), epochs=12)


@misconception(
    "train_digits",
    says="Each call draws other numbers: make one generator from seed, and draw everything from it.",
)
def unseeded(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(next(_calls)), epochs=12)  # no luck: counted seeds


@misconception("train_digits", says="Every seed gives the same network: pass seed to the generator.")
def one_seed_for_all(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(0), epochs=12)


@misconception(
    "train_digits",
    says="The digits are read right, but not by your engine: the gradients have to come from Tensor.backward.",
)
def without_the_engine(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), epochs=12)
