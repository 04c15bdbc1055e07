"""Recurses without end: in Python, past the limit that Python has, and in a parser. Its own error: 4 points."""

import sys


def single_example_gradients(W1, W2, x, t):
    return single_example_gradients(W1, W2, x, t)


def forward(params, X, activation="relu"):
    sys.setrecursionlimit(10**9)

    class Endless:
        def __repr__(self):
            return repr([self])

    repr(Endless())


def cross_entropy_loss(logits, targets):
    return eval("-" * 10**6 + "1")


# %%
def backward(params, cache, dout):
    nested = []
    for _ in range(10**6):
        nested = [nested]
    return nested
