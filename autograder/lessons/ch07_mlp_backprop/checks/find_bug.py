"""Checks of find_bug."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import exercise, expect
from autograder.judging.records.errors import Raised
from autograder.values import summarise

BUGS = {
    "right": "without a bug",
    "slope": "whose gradients leave out relu's slope",
    "bias": "whose gradients of biases are averaged",
    "detached": "whose gradients of W1 and b1 are zero",
    "sum": "whose loss and gradients are summed over the rows",
    "softmax": "that takes the softmax twice",
}
ASKED = 8
"""Networks in a check, right ones and those with its bug in random order: neither a constant nor a list passes."""


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def cross_entropy(logits, targets):
    """The summed cross-entropy and its gradient."""
    rows = np.arange(len(logits))
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    gradient = np.exp(log_p)
    gradient[rows, targets] -= 1
    return -log_p[rows, targets].sum(), gradient


def step(bug: str, params, X, targets) -> tuple[float, dict[str, np.ndarray]]:
    """Loss and gradients of the two-layer relu network with one of `BUGS`."""
    n = len(X)
    Z = X @ params["W1"] + params["b1"]
    H = np.maximum(Z, 0)
    logits = H @ params["W2"] + params["b2"]
    if bug == "softmax":
        p = softmax(logits)
        loss, g = cross_entropy(p, targets)
        dlogits = p * (g - (p * g).sum(axis=1, keepdims=True))
    else:
        loss, dlogits = cross_entropy(logits, targets)
    if bug != "sum":
        loss, dlogits = loss / n, dlogits / n
    dH = dlogits @ params["W2"].T
    dZ = dH if bug == "slope" else dH * (Z > 0)
    if bug == "detached":
        dZ = np.zeros_like(dZ)
    over_rows = np.mean if bug == "bias" else np.sum
    b1, b2 = over_rows(dZ, axis=0), over_rows(dlogits, axis=0)
    return float(loss), {"W1": X.T @ dZ, "b1": b1, "W2": H.T @ dlogits, "b2": b2}


def taken(params, X, targets):
    """The arguments of a network as float64 and int64. Raises `ValueError` if they do not fit, whatever the bug."""
    if not isinstance(params, dict) or set(params) != {"W1", "b1", "W2", "b2"}:
        raise ValueError("network takes params, a dict with the keys W1, b1, W2, b2")
    params = {name: np.asarray(value, dtype=np.float64) + 0.0 for name, value in params.items()}
    X, targets = np.asarray(X, dtype=np.float64) + 0.0, np.asarray(targets)
    shapes = {name: value.shape for name, value in params.items()}
    d, m, o = len(X.T), params["b1"].size, params["b2"].size
    fits = shapes == {"W1": (d, m), "b1": (m,), "W2": (m, o), "b2": (o,)} and X.ndim == 2 and X.shape[1] == d
    if not (fits and len(X) and min(d, m, o) and targets.shape == (len(X),) and targets.dtype.kind in "iu"):
        raise ValueError("network takes W1 (d, m), b1 (m,), W2 (m, o), b2 (o,), X (n, d) and n integer targets")
    if targets.min() < 0 or targets.max() >= o:
        raise ValueError(f"targets are classes from 0 to {o - 1}")
    if not all(np.isfinite(array).all() for array in (X, *params.values())):
        raise ValueError("network takes finite numbers")
    return params, X, targets.astype(np.int64)


class Suspect:
    """A network to ask about. Each call computes all kinds and returns one, so that durations tell nothing."""

    def __init__(self, bug: str) -> None:
        self._bug = bug

    def __call__(self, params: Any, X: Any, targets: Any) -> tuple[float, dict[str, np.ndarray]]:
        taken_ones = taken(params, X, targets)
        with np.errstate(all="ignore"):
            answers = {bug: step(bug, *taken_ones) for bug in BUGS}
        loss, grads = answers[self._bug]
        return loss, {name: np.array(gradient, order="C") + 0.0 for name, gradient in grads.items()}


def ask(learner, rng, bug: str) -> None:
    """Expect the names of networks with this bug and of right ones, in random order."""
    asked = [bug, bug, "right", "right", *rng.choice([bug, "right"], size=ASKED - 4).tolist()]
    for name in rng.permutation(asked).tolist():
        try:
            got = learner.find_bug(Suspect(name).__call__)
        except Raised as error:
            expect(False, f"A network {BUGS[name]}. {error}")
            raise
        expect(isinstance(got, str) and got in BUGS, f"find_bug returned {summarise(got)}; one of {', '.join(BUGS)}")
        expect(got == name, f'A network {BUGS[name]}: the answer is "{name}", not {summarise(got)}.')


@exercise("find_bug")
def test_slope(learner, rng):
    """Networks without relu's slope in the gradient, beside right ones."""
    ask(learner, rng, "slope")


@exercise("find_bug")
def test_bias(learner, rng):
    """Networks that average the gradients of their biases, beside right ones."""
    ask(learner, rng, "bias")


@exercise("find_bug")
def test_detached(learner, rng):
    """Networks whose first layer gets no gradient, beside right ones."""
    ask(learner, rng, "detached")


@exercise("find_bug")
def test_sum(learner, rng):
    """Networks that sum over the rows, in the loss and in the gradients, beside right ones."""
    ask(learner, rng, "sum")


@exercise("find_bug")
def test_softmax(learner, rng):
    """Networks that take the softmax twice, in the loss and in the gradients, beside right ones."""
    ask(learner, rng, "softmax")
