"""Checks of mse_loss."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise
from autograder.lessons.ch07_mlp_backprop.checks.losses import check_loss, check_losses_of_kinds


@exercise("mse_loss")
def test_one_row(learner, reference, rng):
    """½ Σ (y − t)²: a sum over the outputs, with the one half."""
    for case, o in [("one number", 1), ("one row", 2), ("one row", 5)]:
        y, t = rng.normal(size=(1, o)), rng.normal(size=(1, o))
        check_loss(learner.mse_loss(y, t), reference.mse_loss(y, t), "dy", case, **EXACT)


@exercise("mse_loss")
def test_mean_over_rows(learner, reference, rng):
    """The mean over the n rows, in the loss and in the gradient."""
    for n, o in [(2, 1), (3, 2), (4, 4), (7, 3)]:
        y, t = rng.normal(size=(n, o)), rng.normal(size=(n, o))
        check_loss(learner.mse_loss(y, t), reference.mse_loss(y, t), "dy", "a batch", **EXACT)


@exercise("mse_loss")
def test_some_targets_reached(learner, reference, rng):
    """A row that equals its target adds nothing, and still counts in n; the errors elsewhere are large."""
    for n in (2, 5):
        t = rng.normal(size=(n, 3))
        y = t + 100 * rng.normal(size=(n, 3))
        y[0] = t[0]
        check_loss(learner.mse_loss(y, t), reference.mse_loss(y, t), "dy", "a row that equals its target", **EXACT)


@exercise("mse_loss")
def test_mse_in_float32(learner, reference, rng):
    """A float32 output has a float32 gradient."""
    for n, o in [(1, 2), (4, 3)]:
        y, t = rng.normal(size=(2, n, o)).astype(np.float32)
        check_loss(learner.mse_loss(y, t), reference.mse_loss(y, t), "dy", "float32", **SINGLE)


@exercise("mse_loss")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in either dtype, and views."""
    check_losses_of_kinds(learner, reference, kinds, "mse_loss", "dy")
