"""Array, number and dict subclasses that lie about their contents. What crosses is the bytes they hold: no points."""

import numpy as np


class Liar(np.ndarray):
    def __eq__(self, other):
        return np.ones(self.shape, bool)

    def __array_ufunc__(self, *args, **kwargs):
        return np.zeros(self.shape)

    def __array_function__(self, *args, **kwargs):
        return True

    def __array_finalize__(self, parent):
        pass

    def tobytes(self, *args):
        raise SystemExit

    shape = property(lambda self: (1, 1), lambda self, value: None)


class Number(float):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __float__(self):
        return 0.0

    def __sub__(self, other):
        return Number(0)


class Mapping(dict):
    def items(self):
        return [(Number(1), Number(2))] * 250_000

    def __len__(self):
        return 2


def forward(params, X, activation="relu"):
    return np.zeros((len(X), len(params["b2"]))).view(Liar), Number(0)


def cross_entropy_loss(logits, targets):
    return Number(1), np.zeros(logits.shape).view(Liar)


def single_example_gradients(W1, W2, x, t):
    return Mapping(dW1=1)
