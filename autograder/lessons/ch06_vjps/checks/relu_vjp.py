"""Checks of relu_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch06_vjps.checks.activations import SHAPES, agree_activation
from autograder.lessons.ch06_vjps.checks.agreement import DTYPES, SINGLE, distinct
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


@exercise("relu_vjp")
def test_relu_passes_where_x_is_positive(learner, reference, rng):
    """g where x > 0 and 0 where x < 0, whatever the sign and size of g."""
    signed = {case: distinct(rng, shape) + 0.75 for case, shape in SHAPES.items()}
    pair = {
        "one positive and one negative entry": rng.uniform(0.5, 2.0, size=2) * [1, -1],
        "entries far below and above 1": rng.uniform(0.5, 2.0, size=(2, 3)) * [[1e-9, -1e-9, 1], [1e6, -1e6, -1]],
    }
    agree_activation(learner, reference, rng, "relu_vjp", pair | signed)


@exercise("relu_vjp")
def test_relu_at_zero(learner, reference, rng):
    """The derivative at 0 is 0; beside it, it is not."""
    a, b = rng.uniform(0.5, 2.0, size=2)
    inputs = {
        "an entry of exactly 0": np.array([0.0, a]),
        "an entry of -0.0": np.array([a, -0.0]),
        "an entry just above 0": np.array([0.0, 1e-300, -1e-300]),
        "zeros in a matrix": np.array([[0.0, a, -b], [-a, 0.0, b]]),
    }
    agree_activation(learner, reference, rng, "relu_vjp", inputs)


@exercise("relu_vjp")
def test_relu_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        inputs = {case: distinct(rng, (4, 3), x_dtype)}
        agree_activation(learner, reference, rng, "relu_vjp", inputs, g_dtype, **SINGLE)


@exercise("relu_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "relu_vjp", names=("dx",), by_entry=True)


@exercise("relu_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "relu_vjp")
