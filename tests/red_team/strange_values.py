"""Returns what is no answer: cycles, generators, functions, objects, views of 10¹² elements. Said so; 4 points."""

import itertools

import numpy as np

cycle = []
cycle.append(cycle)
knot = {}
knot["knot"] = knot
VALUES = [
    cycle,
    knot,
    (x for x in itertools.count()),
    lambda *args: True,
    object(),
    type("\x1b[31mRed", (), {})(),
    np.array([object(), None], dtype=object),
    np.zeros(3, dtype=[("dA", "f8"), ("dB", "f8")]),
    np.array(["text", "\x1b[31m"]),
    np.array(["2020-01-01"], dtype="datetime64[s]"),
    np.broadcast_to(1.0, (10**6, 10**6)),
    np.broadcast_to(1.0, (1,) * 32),
    np.full((4, 3), np.nan),
    np.float128(1) / 3,
    np.ma.masked_array([1.0, 2.0], mask=True),
    None,
    NotImplemented,
    ...,
    10**5000,
    -(10**4000),
    float("nan"),
    complex("inf"),
    "text" * 10**7,
    b"bytes",
    bytearray(10**6),
    {1, 2, 3},
    range(10**12),
    [[]] * 10**6,
    dict.fromkeys(range(10**6)),
    {k * (2**61 - 1): 0 for k in range(3000)},
    {(1, 2): {None: {1.5: {"\x1b[31m": "\ud800"}}}},
    [np.zeros(10**6)] * 20,
]
turns = itertools.cycle(VALUES)


def single_example_gradients(W1, W2, x, t):
    return next(turns)


def forward(params, X, activation="relu"):
    return (next(turns), next(turns))


def cross_entropy_loss(logits, targets):
    return next(turns)


def backward(params, cache, dout):
    return {"W1": next(turns), "b1": next(turns), "W2": next(turns), "b2": next(turns)}
