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


MOST_ROWS, MOST_UNITS = 20, 6
"""Larger networks would not fit into one message of a call-back, and nudging all of their parameters takes minutes."""
STEP = 1e-20


def loss_of(bug: str, params, X, targets):
    """The mean cross-entropy of the two-layer relu network; its imaginary part over `STEP` is a slope.

    Args:
        bug: one of `BUGS`; only `slope` and `softmax` change anything here.
        params: complex, each with a leading axis for variants of the network.
    """
    Z = X @ params["W1"] + params["b1"][:, None]
    units = np.where(Z.real > 0, Z, Z.imag * 1j if bug == "slope" else 0)
    scores = units @ params["W2"] + params["b2"][:, None]
    if bug == "softmax":
        scores = np.exp(scores - scores.real.max(axis=-1, keepdims=True))
        scores = scores / scores.sum(axis=-1, keepdims=True)
    most = scores.real.max(axis=-1, keepdims=True)
    of_targets = (scores - most)[:, range(len(X)), targets]
    return (np.log(np.exp(scores - most).sum(axis=-1)) - of_targets).mean(axis=-1)


def measured(bug: str, params, X, targets) -> tuple[float, dict[str, np.ndarray]]:
    """The loss and its gradients by complex steps: this file is handed out, and must not show how one derives them.

    See Squire & Trapp, "Using complex variables to estimate derivatives of real functions" (1998).
    """
    flat = np.concatenate([value.ravel() for value in params.values()])
    ends = np.cumsum([value.size for value in params.values()])
    moved = flat + STEP * 1j * np.eye(flat.size)
    parts = zip(params.items(), np.split(moved, ends[:-1], axis=1), strict=True)
    losses = loss_of(bug, {name: part.reshape(-1, *value.shape) for (name, value), part in parts}, X, targets)
    pieces = zip(params.items(), np.split(losses.imag / STEP, ends[:-1]), strict=True)
    return float(losses[0].real), {name: piece.reshape(value.shape) for (name, value), piece in pieces}


def answers_of(params, X, targets) -> dict[str, tuple[float, dict[str, np.ndarray]]]:
    """What a network with each of `BUGS` returns."""
    n = len(X)
    loss, grads = measured("right", params, X, targets)
    return {
        "right": (loss, grads),
        "slope": measured("slope", params, X, targets),
        "bias": (loss, grads | {name: grads[name] / n for name in ("b1", "b2")}),
        "detached": (loss, grads | {name: np.zeros_like(grads[name]) for name in ("W1", "b1")}),
        "sum": (n * loss, {name: n * gradient for name, gradient in grads.items()}),
        "softmax": measured("softmax", params, X, targets),
    }


def taken(params, X, targets):
    """The arguments of a network as float64 and int64. Raises `ValueError` if they do not fit, whatever the bug."""
    if not isinstance(params, dict) or set(params) != {"W1", "b1", "W2", "b2"}:
        raise ValueError("network takes params, a dict with the keys W1, b1, W2, b2")
    params = {name: np.asarray(value, dtype=np.float64) + 0.0 for name, value in params.items()}
    X, targets = np.asarray(X, dtype=np.float64) + 0.0, np.asarray(targets)
    d, m, o = len(X.T), params["b1"].size, params["b2"].size
    shapes = [params[name].shape for name in ("W1", "b1", "W2", "b2")]
    fits = shapes == [(d, m), (m,), (m, o), (o,)] and X.ndim == 2 and X.shape[1] == d
    if not (fits and len(X) and min(d, m, o) and targets.shape == (len(X),) and targets.dtype.kind in "iu"):
        raise ValueError("network takes W1 (d, m), b1 (m,), W2 (m, o), b2 (o,), X (n, d) and n integer targets")
    if len(X) > MOST_ROWS or max(d, m, o) > MOST_UNITS:
        raise ValueError(f"network takes at most {MOST_ROWS} rows, and d, m and o of at most {MOST_UNITS}")
    if targets.min() < 0 or targets.max() >= o:
        raise ValueError(f"targets are classes from 0 to {o - 1}")
    if not all(np.isfinite(array).all() for array in (X, *params.values())):
        raise ValueError("network takes finite numbers")
    return params, X, targets.astype(np.int64)


class Suspect:
    """A network to ask about. Each call computes all kinds and returns one: how long it takes tells nothing."""

    def __init__(self, bug: str) -> None:
        self._bug = bug

    def __call__(self, params: Any, X: Any, targets: Any) -> tuple[float, dict[str, np.ndarray]]:
        taken_ones = taken(params, X, targets)
        with np.errstate(all="ignore"):
            answers = answers_of(*taken_ones)
        loss, grads = answers[self._bug]
        return loss, {name: np.array(gradient, order="C") + 0.0 for name, gradient in grads.items()}


def ask(learner, rng, bug: str) -> None:
    """Expect the names of networks with this bug and of right ones, in random order."""
    asked = [bug, bug, "right", "right", *rng.choice([bug, "right"], size=ASKED - 4).tolist()]
    for name in rng.permutation(asked).tolist():
        try:
            got = learner.find_bug(Suspect(name).__call__)
            learner.forget()  # a check has one bug, so the number of the call would be its name
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
