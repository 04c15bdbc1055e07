"""Checks of fix_01."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import layers, regression
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_01")
def test_fix_01(learner, reference, rng):
    """Each step follows the gradient of its own batch."""
    for n, d, width, steps in [(4, 1, 2, 6), (16, 3, 8, 30)]:
        arguments = layers(rng, d, width, 1), regression(rng, n, d, steps), (rate(rng, 0.1),)
        run("one_model", learner, reference, "fix_01", *arguments, case=f"{steps} batches of {n}")
