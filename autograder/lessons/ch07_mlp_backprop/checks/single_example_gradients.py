"""Checks of single_example_gradients."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, check_kinds, exercise, expect_close


@exercise("single_example_gradients")
def test_outer_products(learner, reference, rng):
    """dW2 = (y − t) hᵀ and dW1 = (W2ᵀ(y − t) ⊙ relu′(z)) xᵀ."""
    active = [rng.uniform(0.5, 1.5, size=shape) for shape in [(1, 1), (1, 1), 1]]
    cases = [("one number everywhere", *active, rng.normal(size=1))]
    for case, (d, m, o) in {"one output": (3, 4, 1), "one input": (1, 3, 2), "a wide layer": (4, 5, 3)}.items():
        cases.append((case, *(rng.normal(size=shape) for shape in [(m, d), (o, m), d, o])))
    cases.append(("large numbers", *(100 * rng.normal(size=shape) for shape in [(3, 2), (2, 3), 2, 2])))
    for case, *arguments in cases:
        got = learner.single_example_gradients(*arguments)
        expect_close(got, reference.single_example_gradients(*arguments), names=("dW1", "dW2"), case=case, **EXACT)


@exercise("single_example_gradients")
def test_square_weights(learner, reference, rng):
    """Square matrices, where a missing transpose changes no shape."""
    for size in (2, 3):
        arguments = [rng.normal(size=shape) for shape in [(size, size), (size, size), size, size]]
        got = learner.single_example_gradients(*arguments)
        expected = reference.single_example_gradients(*arguments)
        expect_close(got, expected, names=("dW1", "dW2"), case="square weights", **EXACT)


@exercise("single_example_gradients")
def test_inactive_units(learner, reference, rng):
    """No gradient reaches the weights of a unit whose pre-activation is negative or exactly 0."""
    x, t = rng.uniform(0.5, 1.5, size=2), rng.normal(size=2)
    for case, signs in [("a pre-activation of exactly 0", [1, 0]), ("active, zero and negative units", [1, 0, -1, 2])]:
        W1 = np.array(signs)[:, None] * rng.uniform(0.5, 1.5, size=(len(signs), 2))
        W2 = rng.normal(size=(2, len(signs)))
        got = learner.single_example_gradients(W1, W2, x, t)
        expect_close(got, reference.single_example_gradients(W1, W2, x, t), names=("dW1", "dW2"), case=case, **EXACT)


@exercise("single_example_gradients")
def test_single_example_in_float32(learner, reference, rng):
    """The gradients have the dtype of the weights."""
    for m, d, o in [(1, 2, 1), (4, 3, 2)]:
        W1, W2, x, t = (rng.normal(size=shape).astype(np.float32) for shape in [(m, d), (o, m), d, o])
        x, W1[0] = np.abs(x), np.abs(W1[0])  # the first unit is active
        got = learner.single_example_gradients(W1, W2, x, t)
        expect_close(
            got, reference.single_example_gradients(W1, W2, x, t), names=("dW1", "dW2"), case="float32", **SINGLE
        )


@exercise("single_example_gradients")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in either dtype, and views."""
    check_kinds(learner, reference, kinds, "single_example_gradients", names=("dW1", "dW2"))
