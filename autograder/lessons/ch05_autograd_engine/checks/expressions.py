"""Expressions of tensors, and their gradients."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT
from autograder.judging.checking.measured import shown_as
from autograder.lessons.ch05_autograd_engine.checks.code_cells import expect_answers


def check_expression(learner, reference, rng, expression, leaves, *, case="", given=None, **tolerance):
    """Check the value of an expression of Tensors, and its gradients along the edges, for a random g."""
    given = given or {}
    value = reference.scenario.run(f"y = {expression}", leaves, ["y.data"], given)["y.data"]
    g = rng.normal(size=np.shape(value)).astype(np.asarray(value).dtype)
    arguments = {**leaves, **given, "y": expression, "g": g}
    got = shown_as(lambda: learner.scenario.walk_edges(expression, leaves, g, given), arguments)
    expected = reference.scenario.walk_edges(expression, leaves, g, given)
    expect_answers(got, expected, case=case or expression, **(tolerance or EXACT))


def away_from_zero(rng, shape):
    """Numbers of both signs, none near 0, for use as divisors."""
    return rng.uniform(0.5, 1.5, size=shape) * rng.choice([-1.0, 1.0], size=shape)
