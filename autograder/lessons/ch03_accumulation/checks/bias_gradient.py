"""Checks of bias_gradient."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, check_kinds, exercise, expect_close
from autograder.lessons.ch03_accumulation.checks.tolerances import SINGLE


def check_bias(learner, reference, g, case, **tolerance):
    expect_close(learner.bias_gradient(g), reference.bias_gradient(g), names=("db",), case=case, **tolerance)


@exercise("bias_gradient")
def test_sum_over_the_batch(learner, reference, rng):
    """One entry per output, summed over the rows."""
    for case, shape in {
        "one number": (1, 1),
        "two rows": (2, 3),
        "a batch": (5, 2),
        "as many rows as outputs": (3, 3),
        "one output": (4, 1),
        "a large batch": (200, 4),
    }.items():
        check_bias(learner, reference, rng.normal(size=shape), case, **EXACT)


@exercise("bias_gradient")
def test_small_batches(learner, reference, rng):
    """A batch of one row, the same row several times, rows of zeros."""
    row = rng.normal(size=(1, 3))
    for case, g in {
        "one row": row,
        "the same row twice": np.repeat(row, 2, axis=0),
        "the same row five times": np.repeat(row, 5, axis=0),
        "a row of zeros": np.concatenate([row, np.zeros((1, 3))]),
        "rows that cancel": np.concatenate([row, -row]),
    }.items():
        check_bias(learner, reference, g, case, **EXACT)


@exercise("bias_gradient")
def test_empty_batch(learner, reference, rng):
    """Nothing was used, so the gradient is zeros; and one row more."""
    for case, shape in {"an empty batch": (0, 3), "an empty batch, one output": (0, 1), "one row": (1, 3)}.items():
        check_bias(learner, reference, rng.normal(size=shape), case, **EXACT)


@exercise("bias_gradient")
def test_bias_in_float32(learner, reference, rng):
    """float32 stays float32."""
    for case, shape in {"float32, one row": (1, 2), "float32": (4, 3), "float32, an empty batch": (0, 2)}.items():
        check_bias(learner, reference, rng.normal(size=shape).astype(np.float32), case, **SINGLE)


@exercise("bias_gradient")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers, small entries beside large ones, in either dtype, and views."""
    check_kinds(learner, reference, kinds, "bias_gradient", names=("db",))
