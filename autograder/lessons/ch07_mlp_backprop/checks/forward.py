"""Checks of forward."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise, expect_close
from autograder.lessons.ch07_mlp_backprop.checks.networks import SHAPES, named, random_params, run_forward


def check_logits(learner, reference, *arguments, case, **tolerance):
    got = run_forward(learner, *arguments, case=case)
    if got is not None:
        expect_close(got[0], reference.forward(*arguments)[0], names=("logits",), case=case, **tolerance)


@exercise("forward")
def test_relu_is_the_default(learner, reference, rng):
    """relu(X W1 + b1) W2 + b2 when no activation is named."""
    for case, (n, d, m, o) in SHAPES.items():
        check_logits(learner, reference, random_params(rng, d, m, o), rng.normal(size=(n, d)), case=case, **EXACT)


@exercise("forward")
def test_activations(learner, reference, rng):
    """Each activation by name."""
    for activation in ("relu", "tanh", "sigmoid"):
        for case, (n, d, m, o) in SHAPES.items():
            params, X = random_params(rng, d, m, o), rng.normal(size=(n, d))
            check_logits(learner, reference, params, X, activation, case=f"{activation}, {case}", **EXACT)


@exercise("forward")
def test_biases(learner, reference, rng):
    """Input 0 leaves f(b1) W2 + b2: the hidden bias goes inside the activation, the output bias outside."""
    for activation in ("relu", "tanh", "sigmoid"):
        params = random_params(rng, 2, 3, 2)
        params["b1"] = rng.uniform(0.5, 1.5, size=3) * [1, -1, 1]
        check_logits(
            learner, reference, params, np.zeros((2, 2)), activation, case=f"{activation}, X all zero", **EXACT
        )


@exercise("forward")
def test_extreme_pre_activations(learner, reference, rng):
    """Pre-activations of ±1000 give finite logits; relu has no largest one."""
    for activation in ("relu", "tanh", "sigmoid"):
        params = random_params(rng, 1, 2, 3)
        params["W1"], params["b1"] = np.array([[1.0, -1.0]]), np.zeros(2)
        X = np.array([[1000.0], [0.0], [-1000.0]])
        check_logits(learner, reference, params, X, activation, case=f"{activation}, pre-activations ±1000", **EXACT)
    check_logits(learner, reference, params, 1e4 * X, case="relu, pre-activations of ten million", **EXACT)


@exercise("forward")
def test_forward_in_float32(learner, reference, rng):
    """float32 parameters and inputs give float32 logits."""
    for activation in ("relu", "tanh", "sigmoid"):
        params, X = random_params(rng, 4, 3, 2, np.float32), rng.normal(size=(5, 4)).astype(np.float32)
        check_logits(learner, reference, params, X, activation, case=f"{activation}, float32", **SINGLE)


@exercise("forward")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in either dtype, and views."""
    for kind in kinds:
        asked, params, X = learner.in_layout(kind.layout), named(kind), kind.drawn["X"]
        arguments = params, X, kind.options["activation"]
        tolerance = kind.tolerance(reference.forward(*arguments)[0], list(kind.drawn.values()))
        check_logits(asked, reference, *arguments, case=kind.label, **tolerance)
