"""Checks of tied_autoencoder_gradient."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, check_kinds, exercise, expect_close
from autograder.lessons.ch03_accumulation.checks.tolerances import SINGLE


def check_tied(learner, reference, W, x, case, **tolerance):
    got, expected = learner.tied_autoencoder_gradient(W, x), reference.tied_autoencoder_gradient(W, x)
    expect_close(got, expected, names=("dW",), case=case, **tolerance)


def inputs_away_from_zero(rng, d):
    return rng.choice([-1.0, 1.0], size=d) * rng.uniform(0.5, 1.5, size=d)


def active_weights(rng, m, x):
    """Random weights whose units are all active on x, none of them barely."""
    W = rng.normal(size=(m, len(x)))
    return W * np.sign(W @ x)[:, None] + 0.3 * x / (x @ x)


@exercise("tied_autoencoder_gradient")
def test_both_uses(learner, reference, rng):
    """Every unit is active: the contribution of the encoder and that of the decoder, added."""
    for case, (m, d) in {  # not first 1 by 1, where an inner product is right but for its shape
        "two units, two inputs": (2, 2),
        "one number": (1, 1),
        "one unit": (1, 3),
        "one input": (3, 1),
        "fewer units than inputs": (2, 4),
        "more units than inputs": (4, 2),
    }.items():
        x = inputs_away_from_zero(rng, d)
        check_tied(learner, reference, active_weights(rng, m, x), x, case, **EXACT)


@exercise("tied_autoencoder_gradient")
def test_square_tied_weights(learner, reference, rng):
    """A square W, where a missing transpose changes no shape."""
    for size in (2, 3):
        x = inputs_away_from_zero(rng, size)
        check_tied(learner, reference, active_weights(rng, size, x), x, "a square W", **EXACT)
        check_tied(learner, reference, rng.normal(size=(size, size)), rng.normal(size=size), "a square W", **EXACT)


@exercise("tied_autoencoder_gradient")
def test_units_that_are_off(learner, reference, rng):
    """A unit whose pre-activation is negative, or exactly 0, sends nothing back through relu."""
    x = np.array([rng.uniform(0.5, 1.5), 0.0])  # W x is the first column of W, times x[0]
    for case, signs in [
        ("an active unit and one at exactly 0", [1, 0]),
        ("an active unit and a negative one", [1, -1]),
        ("active, zero and negative units", [1, 0, -1, 1]),
        ("no unit active but one", [-1, 0, 1]),
    ]:
        W = np.stack([np.array(signs) * rng.uniform(0.5, 1.5, size=len(signs)), rng.normal(size=len(signs))], axis=1)
        check_tied(learner, reference, W, x, case, **EXACT)


@exercise("tied_autoencoder_gradient")
def test_random_weights(learner, reference, rng):
    """Random weights and inputs, small and large."""
    for case, (m, d), scale in [("random", (3, 2), 1), ("a wide layer", (7, 5), 1), ("large numbers", (4, 3), 30)]:
        W, x = rng.normal(size=(m, d)), scale * rng.normal(size=d)
        W[0] *= np.sign(W[0] @ x)  # one unit at least is active
        check_tied(learner, reference, W, x, case, **EXACT)


@exercise("tied_autoencoder_gradient")
def test_tied_in_float32(learner, reference, rng):
    """The gradient has the dtype of W."""
    for m, d in [(1, 2), (3, 4)]:
        x = inputs_away_from_zero(rng, d)
        W = active_weights(rng, m, x)
        check_tied(learner, reference, W.astype(np.float32), x.astype(np.float32), "float32", **SINGLE)


@exercise("tied_autoencoder_gradient")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers, small entries beside large ones, in either dtype, and views."""
    check_kinds(learner, reference, kinds, "tied_autoencoder_gradient", names=("dW",))
