"""Checks of backward."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise, expect_close
from autograder.lessons.ch07_mlp_backprop.checks.networks import SHAPES, named, random_params, run_forward


def check_backward(learner, reference, rng, params, X, activation, case, **tolerance):
    """Check the learner's `backward` with the cache of the learner's own `forward` and a random upstream gradient."""
    logits, cache = reference.forward(params, X, activation)
    dout = rng.normal(size=logits.shape).astype(logits.dtype)
    got = run_forward(learner, params, X, activation, case=case)
    if got is not None:
        gradients = learner.backward(params, got[1], dout)
        expect_close(gradients, reference.backward(params, cache, dout), case=case, **tolerance)


@exercise("backward")
def test_relu_network(learner, reference, rng):
    """dW2 = Hᵀ dout, dZ = (dout W2ᵀ) ⊙ relu′(Z), dW1 = Xᵀ dZ, and the bias sums."""
    for case, (n, d, m, o) in SHAPES.items():
        params, X = random_params(rng, d, m, o), rng.normal(size=(n, d))
        params["b1"][0], params["b2"][0] = 3, 3  # the first unit is active
        check_backward(learner, reference, rng, params, X, "relu", case, **EXACT)


@exercise("backward")
def test_smooth_activations(learner, reference, rng):
    """tanh′ = 1 − H² and sigmoid′ = H (1 − H), both with H the activation."""
    for activation in ("tanh", "sigmoid"):
        for case, (n, d, m, o) in SHAPES.items():
            params, X = random_params(rng, d, m, o), rng.normal(size=(n, d))
            check_backward(learner, reference, rng, params, X, activation, f"{activation}, {case}", **EXACT)


@exercise("backward")
def test_zero_and_extreme_pre_activations(learner, reference, rng):
    """relu′(0) = 0, and a unit at ±1000 has a finite gradient."""
    for activation in ("relu", "tanh", "sigmoid"):
        for case, b1 in [("pre-activations 0", [0.0, 0.0, 0.0]), ("pre-activations ±1000", [1000.0, -1000.0, 0.0])]:
            params, X = random_params(rng, 2, 3, 2), rng.normal(size=(3, 2))
            params["b1"], X[1] = np.array(b1), 0
            check_backward(learner, reference, rng, params, X, activation, f"{activation}, {case}", **EXACT)
    params["b1"] = np.array([1e7, -1e7, 1e7])
    check_backward(learner, reference, rng, params, X, "relu", "relu, pre-activations of ten million", **EXACT)


@exercise("backward")
def test_bias_sums(learner, reference, rng):
    """A bias gradient is a sum over the rows, not a mean: the same row twice counts twice."""
    for activation in ("relu", "sigmoid"):
        params, row = random_params(rng, 2, 3, 2), rng.normal(size=(1, 2))
        for n in (1, 2, 5):
            X = np.repeat(row, n, axis=0)
            check_backward(learner, reference, rng, params, X, activation, f"the same row {n} times", **EXACT)


@exercise("backward")
def test_upstream_gradient(learner, reference, rng):
    """The gradients follow `dout`: a row of zeros adds nothing, twice the `dout` is twice the gradient."""
    params, X = random_params(rng, 3, 4, 2), rng.normal(size=(3, 3))
    random = rng.normal(size=(3, 2))
    got = run_forward(learner, params, X, "tanh", case="one cache")
    if got is None:
        return
    _, cache = reference.forward(params, X, "tanh")
    for case, dout in [
        ("a random dout", random),
        ("the same cache again, dout twice as large", 2 * random),
        ("one row of dout is not zero", random * [[0], [1], [0]]),
        ("dout all zero", 0 * random),
    ]:
        gradients = learner.backward(params, got[1], dout)
        expect_close(gradients, reference.backward(params, cache, dout), case=case, **EXACT)


@exercise("backward")
def test_each_cache_is_its_own(learner, reference, rng):
    """Three forward passes, then their backward passes: what a pass needs is in its cache and in `params`."""
    passes = []
    for activation in ("relu", "tanh", "sigmoid"):
        params, X = random_params(rng, 3, 4, 2), rng.normal(size=(5, 3))
        got = run_forward(learner, params, X, activation, case=f"{activation}, other passes in between")
        passes.append((activation, params, X, got))
    for activation, params, X, got in passes:
        if got is not None:
            logits, cache = reference.forward(params, X, activation)
            dout = rng.normal(size=logits.shape)
            gradients = learner.backward(params, got[1], dout)
            expected = reference.backward(params, cache, dout)
            expect_close(gradients, expected, case=f"{activation}, other passes in between", **EXACT)


@exercise("backward")
def test_backward_in_float32(learner, reference, rng):
    """The gradients have the dtype of the parameters."""
    for activation in ("relu", "tanh", "sigmoid"):
        params, X = random_params(rng, 3, 4, 2, np.float32), rng.normal(size=(5, 3)).astype(np.float32)
        check_backward(learner, reference, rng, params, X, activation, f"{activation}, float32", **SINGLE)


@exercise("backward")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in either dtype, and views."""
    for kind in kinds:
        params, X, dout = named(kind), kind.drawn["X"], kind.drawn["dout"]
        arguments = params, X, kind.options["activation"]
        got = run_forward(learner.in_layout(kind.layout_of("params", "X", "")), *arguments, case=kind.label)
        if got is not None:
            expected = reference.backward(params, reference.forward(*arguments)[1], dout)
            gradients = learner.in_layout(kind.layout_of("params", "", "dout")).backward(params, got[1], dout)
            expect_close(gradients, expected, case=kind.label, **kind.tolerance(expected, list(kind.drawn.values())))
